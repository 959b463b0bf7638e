import Foundation
import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// The announced framing is the one that is sent.
@Suite struct FramingTests {
  @Test func `a form of known length is sent with Content-Length`() async throws {
    let server = try ScriptedServer { _ in .good(body: "thanks") }
    let form = Form(boundary: try Boundary("B")) { Part.text("a", "1") }
    let result = try await makeSession().result(
      of: TransferRequest(.post, server.url + "/in", body: .form(form)))
    #expect(result.outcome == .ok)
    #expect(result.error == nil)
    #expect(result.attempts == 1)
    #expect(result.framing == .contentLength)
    #expect(result.response?.text == "thanks")
    let request = try #require(server.requests.first)
    #expect(request.method == "POST")
    #expect(request.target == "/in")
    #expect(request.header("Content-Type") == "multipart/form-data; boundary=B")
    let body = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--\r\n"
    #expect(String(decoding: request.body, as: UTF8.self) == body)
    #expect(request.framing == .contentLength(body.utf8.count))
    #expect(result.bytesSent == Int64(body.utf8.count))
    #expect(result.contentLength == Int64(body.utf8.count))
    #expect(server.faults.isEmpty)
  }

  @Test func `a body of unknown length is sent in chunks`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let bytes = Array("some bytes from somewhere".utf8)
    let result = try await makeSession().result(
      of: TransferRequest(
        .put, server.url, body: .stream { InputStream(data: Data(bytes)) }))
    #expect(result.outcome == .ok)
    #expect(result.framing == .chunked)
    #expect(result.contentLength == nil)
    #expect(result.bytesSent == Int64(bytes.count))
    #expect(server.requests.first?.framing == .chunked)
    #expect(server.requests.first?.body == bytes)
    #expect(server.faults.isEmpty)
  }

  @Test(arguments: [0, 1, 2, 1000, 65_535, 65_536, 65_537, 262_144, 262_145, 3_000_000])
  func `bodies of all sizes arrive unchanged`(size: Int) async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    let bodies: [TransferBody] = [
      .bytes(bytes), .stream(length: Int64(size)) { InputStream(data: Data(bytes)) },
      .stream { InputStream(data: Data(bytes)) },
    ]
    for body in bodies {
      var request = try TransferRequest(.post, server.url, body: body)
      request.options.computesDigest = true
      let result = await session.result(of: request)
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
      #expect(result.bytesSent == Int64(size))
    }
    #expect(server.requests.map(\.body) == [bytes, bytes, bytes])
    #expect(server.faults.isEmpty)
    #expect(server.connections.count == 1)
  }

  @Test func `a POST without a body announces length 0`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    for _ in 0..<2 {
      let result = await session.result(of: try TransferRequest(.post, server.url))
      #expect(result.outcome == .ok)
      #expect(result.contentLength == 0)
    }
    #expect(server.requests.map(\.framing) == [.contentLength(0), .contentLength(0)])
    #expect(server.faults.isEmpty)
  }

  @Test func `GET and HEAD have no body`() async throws {
    let server = try ScriptedServer { _ in .good(body: "here") }
    let session = try makeSession()
    let got = await session.result(of: try TransferRequest(.get, server.url))
    #expect(got.response?.text == "here")
    #expect(got.framing == .noBody)
    let head = await session.result(of: try TransferRequest(.head, server.url))
    #expect(head.outcome == .ok)
    #expect(head.response?.headers["content-length"] == "4")
    #expect(server.requests.map(\.framing) == [.none, .none])
    #expect(server.faults.isEmpty)
  }
}
