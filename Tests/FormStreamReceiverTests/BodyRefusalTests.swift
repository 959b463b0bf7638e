import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Requests that are refused in the middle of the body, or at its end.
@Suite struct BodyRefusalTests {
  private static func form(_ body: String, type: String = "multipart/form-data; boundary=b")
    -> String
  {
    "POST /f HTTP/1.1\r\nHost: h\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n"
      + "Connection: close\r\n\r\n\(body)"
  }

  private static let part =
    "--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\n"

  @Test(arguments: [
    ("", "0"), ("rubbish", "7"), (part, "63"), (part + "abc", "66"), (part + "abc\r\n--b", "71"),
    (part + "abc\r\n--b-", "72"), ("--b\r\nX\r\n\r\n\r\n--b--", ""), ("--b\r\n\r\nx\r\n--b--", ""),
  ])
  func `a malformed or truncated form is refused at the byte of its flaw`(
    _ body: String, _ offset: String
  ) async throws {
    let server = try TestServer()
    let response = try await server.response(to: Self.form(body))
    #expect(response.status == 400)
    #expect(response.text.contains("byte \(offset)"), "\(response.text)")
    #expect(response.text.contains("\"complete\":false"))
    let reported = try #require(try await server.reportedRequests(1).first)
    #expect(reported.status == 400)
    #expect(reported.json == response.text)
    #expect(server.handler.openUploads == 0)
    #expect(server.handler.state.withLock(\.ended) == 0)
  }

  @Test(arguments: [
    "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
    "multipart/form-data; boundary=a; boundary=b", "multipart/mixed", "multipart/form-data;",
    "multipart/form-data; boundary=\(String(repeating: "x", count: 71))", "multipart/",
  ])
  func `a form without a valid boundary is refused before the handler is asked`(_ type: String)
    async throws
  {
    let server = try TestServer()
    let response = try await server.response(to: Self.form("--b--\r\n", type: type))
    #expect(response.status == 400, "\(response)")
    #expect(server.handler.targets == [])
  }

  @Test(arguments: [
    "multipart/form-data; boundary=b", "Multipart/Form-Data; Boundary=b",
    "multipart/form-data; boundary=\"b\"", "multipart/form-data;boundary=b;charset=utf-8",
    "multipart/form-data; charset=\"a;boundary=x\"; boundary=b", "multipart/form-data ; boundary=b",
    "multipart/mixed; boundary=b", "MULTIPART/RELATED;boundary=b",
  ])
  func `a form is recognized however its type is written`(_ type: String) async throws {
    let server = try TestServer()
    let response = try await server.response(
      to: Self.form("\(Self.part)abc\r\n--b--\r\n", type: type))
    #expect(response.status == 200, "\(response)")
    #expect(
      server.handler.parts == [.init(name: "a", filename: "f", bytes: Array("abc".utf8))])
  }

  @Test func `a form that exceeds a limit is refused`() async throws {
    let server = try TestServer {
      $0.limits.form.parts = 2
      $0.limits.form.headerBlock = 200
    }
    let small = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
    for (body, status) in [
      (small + small + "--b--", 200), (small + small + small + "--b--", 413),
      ("--b\r\nX: \(String(repeating: "x", count: 300))\r\n\r\n\r\n--b--", 413),
    ] {
      let response = try await server.response(to: Self.form(body))
      #expect(response.status == status)
      #expect(response.text.contains("limit-exceeded") == (status == 413))
    }
  }

  private static func handlerThrowing(
    _ error: any Error, at failing: InMemoryHandler.Call
  ) -> InMemoryHandler {
    InMemoryHandler { call, _ in if call == failing { throw error } }
  }

  @Test(arguments: InMemoryHandler.Call.allCases, [false, true])
  func `if a handler fails, the response is 500 and does not quote the error`(
    _ call: InMemoryHandler.Call, isRaw: Bool
  ) async throws {
    struct Secret: Error {
      let path = "/secret"
    }
    let server = try TestServer(Self.handlerThrowing(Secret(), at: call))
    let response = try await server.response(
      to: isRaw
        ? Self.form("abc", type: "text/plain") : Self.form("\(Self.part)abc\r\n--b--\r\n"))
    #expect(response.status == 500)
    #expect(response.text.contains("\"code\":\"handling-failed\""))
    #expect(!response.description.contains("ecret"))
    let reported = try await server.reportedRequests(1)
    #expect(reported.count == 1)
    #expect(reported.first?.underlying is Secret)
    #expect(reported.first?.status == 500)
    #expect(server.handler.openUploads == 0)
  }

  @Test(arguments: InMemoryHandler.Call.allCases)
  func `if a handler refuses, the response has its status and message`(
    _ call: InMemoryHandler.Call
  ) async throws {
    let refusal = UploadRefusal(.init(rawValue: "too-odd"), status: 422, "It is \"odd\".")
    let server = try TestServer(Self.handlerThrowing(refusal, at: call))
    let response = try await server.response(to: Self.form("\(Self.part)abc\r\n--b--\r\n"))
    #expect(response.status == 422)
    #expect(
      response.text.contains("\"error\":{\"code\":\"too-odd\",\"message\":\"It is \\\"odd\\\".\"}"))
    #expect(server.handler.openUploads == 0)
  }

  @Test(arguments: [0, 99, 100, 200, 204, 304, 399, 600, -1])
  func `a refusal never has a status below 400`(_ status: Int) async throws {
    let refusal = UploadRefusal(.noRoom, status: status, "No.")
    let server = try TestServer(Self.handlerThrowing(refusal, at: .end))
    #expect(try await server.response(to: Self.form("--b--", type: "text/plain")).status == 500)
  }

  @Test func `a connection stays open after an upload that is refused at its end`() async throws {
    let server = try TestServer(
      InMemoryHandler { call, request in
        if call == .end, request.target == "/f" { throw TestError(1) }
      })
    let body = "\(Self.part)abc\r\n--b--\r\n"
    let head = "HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    let responses = try await server.responses(
      to: "POST /f \(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        + "POST /g \(head)Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(responses.map(\.status) == [500, 200])
  }

  @Test func `a refusal in the middle of a body is sent, and the connection closed`() async throws {
    let server = try TestServer(Self.handlerThrowing(TestError(1), at: .bytes))
    let responses = try await server.responses(
      to: "POST /f HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n"
        + String(repeating: "x", count: 500_000))
    #expect(responses.map(\.status) == [500])
    #expect(responses.first?.closes == true)
    #expect(responses.first?.headers("Date").first?.hasSuffix(" GMT") == true)
  }
}
