import FormStreamURLSession
import Foundation
import FoundationNetworking
import FormStreamTestSupport
import Testing

@Suite(.timeLimit(.minutes(1)), .disabled(if: sanitizer == "address", libcurlLeaks))
struct URLRequestTests {
  @Test func `setBody sets the method, the type and the body of a request`() throws {
    let layout = try Form(boundary: Boundary("B")) { Part.text("a", "1") }.layout()
    var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1/")))
    request.setBody(of: layout)
    #expect(request.httpMethod == "POST")
    #expect(request.value(forHTTPHeaderField: "Content-Type") == "multipart/form-data; boundary=B")
    let body = try drain(try #require(request.httpBodyStream), chunk: 7)
    let expected =
      "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--\r\n"
    #expect(String(decoding: body, as: UTF8.self) == expected)
    request.setBody(of: layout, method: "PUT")
    #expect(request.httpMethod == "PUT")
  }

  @Test func `on Linux a request with a stream has no length`() throws {
    var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1/")))
    request.setValue("5", forHTTPHeaderField: "content-length")
    request.setBody(of: try Form { Part.text("a", "1") }.layout())
    #expect(request.value(forHTTPHeaderField: "Content-Length") == nil)
  }

  @Test(arguments: TaskKind.allCases)
  func `a session sends the complete form with exactly one framing`(kind: TaskKind) async throws {
    let directory = try TemporaryDirectory()
    let layout = try sampleForm(in: directory).layout()
    let server = try ScriptedServer(requests: [.closing()])
    let response = try await send(
      try uploadRequest(of: layout, to: server), as: kind,
      with: NotingDelegate(FormUploadDelegate(layout)))
    #expect(response.statusCode == 200)
    let received = try server.onlyRequest()
    #expect(received.line == "POST /upload")
    #expect(received.header("Content-Type") == layout.contentType)
    #expect(received.framings == ["transfer-encoding: chunked"])
    let body = try layout.bytes(limit: 1 << 20)
    #expect(received.body == body)
  }
}
