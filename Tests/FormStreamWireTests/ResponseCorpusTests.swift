import Foundation
import FormStreamMultipart
import FormStreamTestSupport
import FormStreamWire
import Testing

/// The responses in `Tests/Corpus/wire`. The README there says what the expectations mean.
@Suite struct ResponseCorpusTests {
  /// What is expected of a response.
  struct Expected: Decodable {
    var rule: String
    var method: String?
    var ending: ExchangeRun.Ending?
    var kept: Bool?
    var upload: String?
    var sent: [[Int]]?
    var stage: String?
    var bodySent: Int64?
    var interim: [Int]?
    var status: Int?
    var minor: Int?
    var reason: String?
    var headers: [[String]]?
    var framing: String?
    var body: String?
    var trailers: [[String]]?
    var closing: String?
    var idle: Int64?
    var left: Int?
    var error: String?
  }

  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus/wire")

  private static func names(of type: String) -> [String] {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path())
    return (files ?? []).filter { $0.hasSuffix(type) }.map { String($0.dropLast(type.count)) }
      .sorted()
  }

  @Test func `each response has an expectation, and there are at least 250 responses`() {
    #expect(Self.names(of: ".http").count >= 250)
    #expect(Self.names(of: ".http") == Self.names(of: ".expected.json"))
  }

  /// A response and its expectation.
  private struct Case {
    let response: [UInt8]
    let expected: Expected

    init(named name: String) throws {
      response = try Array(Data(contentsOf: folder.appending(path: "\(name).http")))
      expected = try JSONDecoder().decode(
        Expected.self, from: Data(contentsOf: folder.appending(path: "\(name).expected.json")))
    }

    func run(cuts: some Sequence<Int> = EmptyCollection<Int>()) throws -> ExchangeRun {
      try ExchangeRun(
        response, to: .get(expected.method ?? "GET"), cuts: cuts,
        ending: expected.ending ?? .closed, upload: upload, isKept: expected.kept ?? false)
    }

    private var upload: ExchangeRun.Upload? {
      expected.upload.map { framing in
        ExchangeRun.Upload(
          isChunked: framing == "chunked", sent: (expected.sent ?? []).map { ($0[0], $0[1]) })
      }
    }
  }

  @Test(arguments: names(of: ".http")) func `a response is read as expected`(name: String) throws {
    let one = try Case(named: name)
    let (run, expected) = (try one.run(), one.expected)
    #expect(!expected.rule.isEmpty)
    #expect(run.error?.description == expected.error)
    #expect(run.isComplete == (expected.error == nil && expected.ending != .open))
    #expect(run.interim == expected.interim ?? [])
    #expect(run.head?.status == expected.status)
    if let minor = expected.minor { #expect(run.head?.minorVersion == minor) }
    if let reason = expected.reason {
      #expect(run.head.map { String(decoding: $0.reason, as: UTF8.self) } == reason)
    }
    if let headers = expected.headers { #expect(run.head?.headers.pairs == headers) }
    #expect(run.framing?.name == expected.framing)
    #expect(String(decoding: run.body, as: UTF8.self) == expected.body ?? "")
    #expect(run.trailers.pairs == expected.trailers ?? [])
    #expect(run.idleSeconds == expected.idle)
    if let stage = expected.stage { #expect(run.stageAtResponse.map { "\($0)" } == stage) }
    if let bodySent = expected.bodySent { #expect(run.bodySentAtResponse == bodySent) }
    #expect(run.isEndFinal)
    #expect(!run.hasEmptyBytes)
    guard expected.error == nil else { return #expect(run.closingReason != nil) }
    #expect(run.closingReason.map { "\($0)" } == expected.closing)
    #expect(one.response.count - run.consumed == expected.left ?? 0)
  }

  /// In any two pieces, with any short piece between two others, and in single bytes.
  @Test(arguments: names(of: ".http")) func `a divided response is read the same`(
    name: String
  ) throws {
    let one = try Case(named: name)
    let undivided = try one.run()
    func check(_ cuts: some Collection<Int>) throws {
      var run = try one.run(cuts: cuts)
      // A piece that has an error is not read further.
      if run.error != nil { run.forgetConsumed(of: undivided) }
      if run != undivided { Issue.record("cut at \(Array(cuts))") }
    }
    try check(one.response.indices)
    for first in 0...one.response.count {
      for second in first...min(first + 8, one.response.count) { try check([first, second]) }
    }
  }
}

extension HTTPHeaders {
  fileprivate var pairs: [[String]] { map { [$0.name, $0.value] } }
}

extension ResponseFraming {
  fileprivate var name: String {
    switch self {
    case .none: "none"
    case .length: "length"
    case .chunked: "chunked"
    case .untilClose: "untilClose"
    }
  }
}
