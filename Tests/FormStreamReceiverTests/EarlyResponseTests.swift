import FormStream
import Foundation
import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// A refusal in the middle of a body reaches a client that is still sending.
@Suite struct EarlyResponseTests {
  private static let rounds = 100

  /// A body that is refused in its middle, and the reason.
  enum Case: String, CaseIterable {
    /// The body exceeds the limit, and its length was not announced.
    case tooLong = "413"
    /// The body is not the form that its type announces.
    case malformed = "400"
    /// The handler has no room.
    case noRoom = "507"
    /// The announced length exceeds the limit: the refusal comes before the body, but the client does not wait for it.
    case announcedTooLong = "413 "

    var status: String { String(rawValue.prefix(3)) }
    /// The code of the refusal in the record.
    var code: String {
      switch self {
      case .tooLong, .announcedTooLong: "body-too-large"
      case .malformed: "malformed-body"
      case .noRoom: "no-room"
      }
    }
    var type: String {
      self == .malformed ? "multipart/form-data; boundary=b" : "application/octet-stream"
    }

    func server(_ setUp: (inout Receiver.Configuration) -> Void = { _ in }) throws -> TestServer {
      try TestServer(
        InMemoryHandler { call, _ in
          guard call == .bytes, self == .noRoom else { return }
          throw UploadRefusal(.noRoom, status: 507, "No room.")
        }
      ) {
        if self == .tooLong || self == .announcedTooLong { $0.limits.body = 1 << 18 }
        setUp(&$0)
      }
    }

    /// A file that begins like a malformed form and continues with zeros.
    func file(in directory: TemporaryDirectory, size: UInt64 = 24 << 20) throws -> LocalPath {
      let path = try directory.write("f", "--b\r\nrubbish\r\n\r\n")
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(path)"))
      try file.truncate(atOffset: size)
      try file.close()
      return path
    }

    func curlArguments(_ file: LocalPath, to url: String, times: Int) -> [String] {
      var arguments = ["-k", "-H", "Expect:", "-X", "POST", "-H", "Content-Type: \(type)"]
      if self == .tooLong { arguments += ["-H", "Transfer-Encoding: chunked"] }
      for _ in 0..<times { arguments += ["-T", "\(file)", "-o", "/dev/null", url] }
      return arguments + ["-w", "%{http_code} "]
    }
  }

  @Test(arguments: Case.allCases)
  func `curl receives the response in each of a hundred uploads`(_ kind: Case) async throws {
    let directory = try TemporaryDirectory()
    let server = try kind.server()
    let arguments = kind.curlArguments(
      try kind.file(in: directory), to: server.receiver.url, times: Self.rounds)
    let result = try await onNewThread { try curl(arguments) }
    #expect(result.exit == 0, "\(result.stderr.prefix(500))")
    #expect(result.output == String(repeating: "\(kind.status) ", count: Self.rounds))
    #expect(server.handler.openUploads == 0)
  }

  @Test(arguments: Case.allCases)
  func `our own client receives the response in each of a hundred uploads`(_ kind: Case)
    async throws
  {
    let directory = try TemporaryDirectory()
    let file = try kind.file(in: directory)
    let type = try #require(MediaType(kind.type))
    let server = try kind.server()
    let session = try TransferSession(TransferSession.Configuration())
    var counts: [String: Int] = [:]
    for _ in 0..<Self.rounds {
      let body: TransferBody =
        kind == .tooLong
        ? .stream(type: type) { InputStream(fileAtPath: "\(file)") }
        : .file(file, type: type)
      var request = try TransferRequest(.post, server.receiver.url, body: body)
      request.options.expectation = .never
      let result = await session.result(of: request)
      counts["\(result.outcome.rawValue) \(result.status ?? 0)", default: 0] += 1
    }
    #expect(counts == ["failed \(kind.status)": Self.rounds])
  }

  /// The record of a refused form can be larger than the socket's buffer.
  @Test func `a client that reads late receives a large response completely`() async throws {
    let server = try TestServer { $0.limits.form.allHeaders = 64 << 20 }
    let long = String(repeating: "n", count: 1000)
    var body = ""
    for _ in 0..<4000 {
      body += "--b\r\nContent-Disposition: form-data; name=\"\(long)\"\r\n\r\nx\r\n"
    }
    body += "--b\r\nrubbish\r\n\r\n"
    let request =
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\n"
      + "Content-Length: \(body.utf8.count + 1)\r\n\r\n\(body)"
    let responses = try await onNewThread {
      let client = try RawClient(
        .ip("127.0.0.1", port: server.receiver.port), receiveBuffer: 128 << 10)
      try client.send(request)
      client.closeWrite()
      return try client.responsesToEnd()
    }
    #expect(responses.map(\.status) == [400])
    #expect(responses.first.map { $0.body.count > 8 << 20 } == true)
  }

  /// Under TLS only libmicrohttpd can respond, and only after the body. So the rest of a short body is read first.
  @Test(arguments: Case.allCases)
  func `under TLS a client that sends a short body receives the response each time`(
    _ kind: Case
  ) async throws {
    let directory = try TemporaryDirectory()
    let server = try kind.server { $0.tls = try? .forTests() }
    let arguments = kind.curlArguments(
      try kind.file(in: directory, size: 1 << 20), to: server.receiver.url, times: 10)
    let result = try await onNewThread { try curl(arguments) }
    #expect(result.output == String(repeating: "\(kind.status) ", count: 10), "\(result.stderr)")
    #expect(await eventually { server.handler.openUploads == 0 })
    #expect(server.handler.state.withLock(\.ended) == 0)
  }

  /// If much of the body is left, the connection is closed instead, which may cost the client the response.
  @Test(arguments: Case.allCases)
  func `under TLS a client that sends a long body never receives a success`(
    _ kind: Case
  ) async throws {
    let directory = try TemporaryDirectory()
    let server = try kind.server { $0.tls = try? .forTests() }
    let arguments = kind.curlArguments(
      try kind.file(in: directory), to: server.receiver.url, times: 10)
    let result = try await onNewThread { try curl(arguments) }
    let statuses = result.output.split(separator: " ").map(String.init)
    #expect(statuses.count == 10)
    #expect(Set(statuses).isSubset(of: ["000", kind.status]), "\(result.output)")
    let reported = try await server.reportedRequests(10)
    #expect(reported.map(\.error?.code) == [String?](repeating: kind.code, count: 10))
    #expect(await eventually { server.handler.openUploads == 0 })
    #expect(server.handler.state.withLock(\.ended) == 0)
  }
}
