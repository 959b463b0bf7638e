import Foundation
import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// The bodies in `Tests/Corpus/parse`. The README there names their origins.
@Suite struct ParserCorpusTests {
  /// What is expected of a body.
  struct Expected: Decodable {
    struct Options: Decodable {
      var requiresNames: Bool?
      var allowsBareLF: Bool?
      var escaping: String?
    }

    struct Part: Decodable, Equatable {
      var name: String?
      var filename: String?
      var contentType: String?
      var body: String
    }

    struct Failure: Decodable, Equatable {
      var code: String
      var offset: Int64
    }

    var boundary: String
    var options: Options?
    var parts: [Part]?
    var error: Failure?
  }

  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus/parse")

  private static func names(of type: String) -> [String] {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path())
    return (files ?? []).filter { $0.hasSuffix(type) }.map { String($0.dropLast(type.count)) }
      .sorted()
  }

  @Test func `each body has an expectation, and there is at least one body`() {
    #expect(Self.names(of: ".http").count >= 40)
    #expect(Self.names(of: ".http") == Self.names(of: ".expected.json"))
  }

  /// A body and its expectation.
  private struct Case {
    let body: [UInt8]
    let expected: Expected
    private var options = FormParser.Options()

    init(named name: String) throws {
      body = try Array(Data(contentsOf: folder.appending(path: "\(name).http")))
      expected = try JSONDecoder().decode(
        Expected.self, from: Data(contentsOf: folder.appending(path: "\(name).expected.json")))
      options.requiresNames = expected.options?.requiresNames ?? true
      options.allowsBareLF = expected.options?.allowsBareLF ?? false
      if let escaping = expected.options?.escaping {
        let profile: EscapingProfile = try #require(
          EscapingProfile.all.first { $0.description == escaping })
        options.escaping = profile
      }
    }

    func run(cuts: some Sequence<Int> = EmptyCollection<Int>()) throws -> ParserRun {
      try ParserRun(body, boundary: expected.boundary, cuts: cuts, options: options)
    }
  }

  @Test(arguments: names(of: ".http")) func `a body is parsed as expected`(name: String) throws {
    let one = try Case(named: name)
    let run = try one.run()
    #expect(run.isComplete == (one.expected.error == nil))
    #expect(run.code?.rawValue == one.expected.error?.code)
    #expect(run.offset == one.expected.error?.offset)
    guard let parts = one.expected.parts else { return }
    #expect(
      run.parts.map {
        Expected.Part(
          name: $0.head.name, filename: $0.head.filename, contentType: $0.head.contentType,
          body: $0.text)
      } == parts)
  }

  /// In any two and three pieces, and in single bytes.
  @Test(arguments: names(of: ".http")) func `a divided body is parsed the same`(
    name: String
  ) throws {
    let one = try Case(named: name)
    let undivided = try one.run()
    #expect(try one.run(cuts: one.body.indices) == undivided)
    for first in 0...one.body.count {
      for second in first...one.body.count where try one.run(cuts: [first, second]) != undivided {
        Issue.record("cut at \(first) and \(second)")
      }
    }
  }
}
