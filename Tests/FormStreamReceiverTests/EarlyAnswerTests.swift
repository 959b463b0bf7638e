import FormStream
import Foundation
import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// A refusal in the midst of a body reaches the client that is still sending.
@Suite struct EarlyAnswerTests {
  private static let rounds = 100

  /// What is refused in the midst of a body, and by what.
  enum Case: String, CaseIterable {
    /// The limit of all bytes, where the length was not announced.
    case tooLong = "413"
    /// No form, though it says so.
    case malformed = "400"
    /// The handler has no room.
    case noRoom = "507"
    /// The limit, by the length: before the body, but the client does not wait.
    case announcedTooLong = "413 "

    var status: String { String(rawValue.prefix(3)) }
    var type: String {
      self == .malformed ? "multipart/form-data; boundary=b" : "application/octet-stream"
    }

    func stand(_ setUp: (inout Receiver.Configuration) -> Void = { _ in }) throws -> Stand {
      try Stand(
        KeepingHandler { place, _ in
          guard place == .bytes, self == .noRoom else { return }
          throw UploadRefusal(.noRoom, status: 507, "No room.")
        }
      ) {
        if self == .tooLong || self == .announcedTooLong { $0.limits.body = 1 << 20 }
        setUp(&$0)
      }
    }

    /// A form that is none, and a long time nothing.
    func file(in directory: TemporaryDirectory) throws -> LocalPath {
      let path = try directory.write("f", "--b\r\nrubbish\r\n\r\n")
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(path)"))
      try file.truncate(atOffset: 24 << 20)
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
  func `curl has the answer, a hundred times of a hundred`(_ kind: Case) async throws {
    let directory = try TemporaryDirectory()
    let stand = try kind.stand()
    let arguments = kind.curlArguments(
      try kind.file(in: directory), to: stand.receiver.url, times: Self.rounds)
    let said = try await onNewThread { try curl(arguments) }
    #expect(said.exit == 0, "\(said.stderr.prefix(500))")
    #expect(said.output == String(repeating: "\(kind.status) ", count: Self.rounds))
    #expect(stand.handler.alive == 0)
  }

  @Test(arguments: Case.allCases)
  func `our own client has it, a hundred times of a hundred`(_ kind: Case) async throws {
    let directory = try TemporaryDirectory()
    let file = try kind.file(in: directory)
    let type = try #require(MediaType(kind.type))
    let stand = try kind.stand()
    let session = try TransferSession(TransferSession.Configuration())
    var counts: [String: Int] = [:]
    for _ in 0..<Self.rounds {
      let body: TransferBody =
        kind == .tooLong
        ? .stream(type: type) { InputStream(fileAtPath: "\(file)") }
        : .file(file, type: type)
      var request = try TransferRequest(.post, stand.receiver.url, body: body)
      request.options.expectation = .never
      let result = await session.result(of: request)
      counts["\(result.outcome.rawValue) \(result.status ?? 0)", default: 0] += 1
    }
    #expect(counts == ["failed \(kind.status)": Self.rounds])
  }

  /// The record of a refused form can be larger than what the socket holds.
  @Test func `who sends no more, and reads late, has all of a large answer`() async throws {
    let stand = try Stand { $0.limits.form.allHeaders = 64 << 20 }
    let long = String(repeating: "n", count: 1000)
    var body = ""
    for _ in 0..<4000 {
      body += "--b\r\nContent-Disposition: form-data; name=\"\(long)\"\r\n\r\nx\r\n"
    }
    body += "--b\r\nrubbish\r\n\r\n"
    let request =
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\n"
      + "Content-Length: \(body.utf8.count + 1)\r\n\r\n\(body)"
    let answers = try await onNewThread {
      let client = try RawClient(
        .ip("127.0.0.1", port: stand.receiver.port), receiveBuffer: 64 * 1024)
      try client.send(request)
      client.closeWrite()
      return try client.answersUpToEnd()
    }
    #expect(answers.map(\.status) == [400])
    #expect(answers.first.map { $0.body.count > 8 << 20 } == true)
  }

  /// Under TLS nothing but libmicrohttpd can answer, and not in the midst of a body.
  @Test(arguments: Case.allCases)
  func `under TLS it is the answer or a clean failure, and never a success`(
    _ kind: Case
  ) async throws {
    let directory = try TemporaryDirectory()
    let stand = try kind.stand { $0.tls = try? .testing() }
    let arguments = kind.curlArguments(
      try kind.file(in: directory), to: stand.receiver.url, times: 10)
    let said = try await onNewThread { try curl(arguments) }
    let statuses = said.output.split(separator: " ").map(String.init)
    #expect(statuses.count == 10)
    #expect(Set(statuses).isSubset(of: ["000", kind.status]), "\(said.output)")
    #expect(await eventually { stand.handler.alive == 0 })
    #expect(stand.handler.state.withLock(\.ended) == 0)
  }
}
