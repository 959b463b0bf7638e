import FormStream
import Receiver
import TestSupport
import Testing
import Transfer

/// A refusal in the midst of a body reaches the client that is still sending.
@Suite struct EarlyAnswerTests {
  private static let rounds = 100

  private static func stand(_ setUp: (inout Receiver.Configuration) -> Void = { _ in }) throws
    -> Stand
  {
    try Stand {
      $0.limits.body = 1 << 20
      setUp(&$0)
    }
  }

  /// Each is a file of zeros, which is no form either.
  private static let cases: [(flags: [String], status: String)] = [
    (["-H", "Transfer-Encoding: chunked"], "413"),
    (["-H", "Content-Type: multipart/form-data; boundary=b"], "400"),
    ([], "413"),
  ]

  @Test(arguments: cases.indices)
  func `curl has the answer, a hundred times of a hundred`(_ index: Int) async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.sparse("f", size: 24 << 20)
    let (flags, status) = Self.cases[index]
    // Of a form, the parser is to find the fault: a limit says nothing of it.
    let stand = try Self.stand { if status == "400" { $0.limits.body = nil } }
    let arguments =
      flags + ["-H", "Expect:", "-T", "\(file)", "-X", "POST", "-w", "%{http_code} "]
      + Array(repeating: ["-o", "/dev/null", stand.receiver.url], count: Self.rounds).joined()
    let said = try await onOwnThread { try curl(arguments.expanded(file: "\(file)")) }
    #expect(said.exit == 0, "\(said.stderr.prefix(500))")
    #expect(said.output == String(repeating: "\(status) ", count: Self.rounds))
    #expect(stand.handler.alive == 0)
  }

  @Test(arguments: cases.indices)
  func `our own client has it, a hundred times of a hundred`(_ index: Int) async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.sparse("f", size: 24 << 20)
    let (_, status) = Self.cases[index]
    let stand = try Self.stand { if status == "400" { $0.limits.body = nil } }
    let session = try TransferSession(TransferSession.Configuration())
    var counts: [String: Int] = [:]
    for _ in 0..<Self.rounds {
      let type = MediaType(status == "400" ? "multipart/form-data; boundary=b" : "text/x")
      var request = try TransferRequest(
        .post, stand.receiver.url, body: .file(file, type: try #require(type)))
      request.options.expectation = .never
      let result = await session.result(of: request)
      counts["\(result.outcome) \(result.status ?? 0)", default: 0] += 1
    }
    #expect(counts == ["failed \(status)": Self.rounds])
  }

  /// Under TLS nothing but libmicrohttpd can answer, and not in the midst of a body.
  @Test func `under TLS it is the answer or a clean failure, and never a success`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.sparse("f", size: 24 << 20)
    let stand = try Self.stand { $0.tls = try? .testing() }
    for flags in Self.cases.map(\.flags) {
      let arguments =
        flags + ["-k", "-H", "Expect:", "-T", "\(file)", "-X", "POST", "-w", "%{http_code} "]
        + Array(repeating: ["-o", "/dev/null", stand.receiver.url], count: 10).joined()
      let said = try await onOwnThread { try curl(arguments.expanded(file: "\(file)")) }
      let statuses = said.output.split(separator: " ")
      #expect(statuses.count == 10)
      #expect(Set(statuses).isSubset(of: ["000", "400", "413"]), "\(said.output)")
    }
    #expect(await eventually { stand.handler.alive == 0 })
    #expect(stand.handler.state.withLock(\.ended) == 0)
  }
}

extension [String] {
  /// curl asks for the file to upload once for each URL.
  fileprivate func expanded(file: String) -> [String] {
    var result: [String] = []
    var isFirst = true
    for argument in self {
      if argument.hasPrefix("http") {
        if !isFirst { result += ["-T", file] }
        isFirst = false
      }
      result.append(argument)
    }
    return result
  }
}
