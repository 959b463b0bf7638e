import FormStream
import Foundation
import FoundationNetworking
import FormStreamTestSupport
import Testing

/// The session of Foundation on Linux opens the stream itself, asserts that it was not open, and
/// understands `hasBytesAvailable == false` as the end.
@Suite struct URLSessionTests {
  private static let libcurlLeaks: Comment =
    "libcurl under this Foundation loses some 50 bytes a process, whoever uses it"

  @Test(.timeLimit(.minutes(1)), .disabled(if: sanitizer == "address", Self.libcurlLeaks))
  func `a session reads a form's stream to its end`() async throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("f", noise(300_000))
    let layout = try Form {
      Part.text("a", "1")
      Part.file("f", path)
      Part.stream("s") { StaccatoSource(noise(3000), seed: 1) }
      Part.text("z", "end")
    }.layout()
    let server = try ScriptedServer(requests: [.closing()])
    var request = URLRequest(
      url: try #require(URL(string: "http://127.0.0.1:\(server.port)/upload")))
    request.httpMethod = "POST"
    request.setValue(layout.contentType, forHTTPHeaderField: "Content-Type")
    request.httpBodyStream = FormInputStream(layout)
    let session = URLSession(configuration: .ephemeral)
    defer { session.invalidateAndCancel() }
    let (_, response) = try await session.data(for: request)
    #expect((response as? HTTPURLResponse)?.statusCode == 200)

    let received = try #require(server.requests.first)
    #expect((received.method, received.target) == ("POST", "/upload"))
    #expect(received.header("Content-Type") == layout.contentType)
    #expect(received.framing == .chunked)
    let body = try layout.bytes(limit: 1 << 20)
    #expect(received.body == body)
  }

  @Test(.disabled(if: sanitizer == "address", Self.libcurlLeaks))
  func `a session leaves none of a form's files open`() throws {
    let directory = try TemporaryDirectory()
    try directory.write("one", noise(100_000))
    try directory.write("two", noise(10))
    let server = try ScriptedServer(requests: [.closing()])
    let said = try run(
      "formstream-drain-probe",
      ["chunk=0", "session=\(server.port)", directory.path("one"), directory.path("two")],
      environment: ["no_proxy": "127.0.0.1"])
    let body = try #require(server.requests.first).body
    #expect(said.output == "descriptors left: 0\nbytes read: \(body.count)\n")
    #expect(body.count > 100_010)
  }
}
