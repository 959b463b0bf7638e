import Foundation
import Multipart
import TestSupport
import Testing

/// The bodies in `Tests/Corpus/parse`; its README says where they are from.
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

  @Test func `each body has its expectation, and there are some`() {
    #expect(Self.names(of: ".http").count >= 20)
    #expect(Self.names(of: ".http") == Self.names(of: ".expected.json"))
  }

  @Test(arguments: names(of: ".http")) func `a body is read as expected`(name: String) throws {
    let body = try Data(contentsOf: Self.folder.appending(path: "\(name).http"))
    let expected = try JSONDecoder().decode(
      Expected.self, from: Data(contentsOf: Self.folder.appending(path: "\(name).expected.json")))
    var options = FormParser.Options()
    options.requiresNames = expected.options?.requiresNames ?? true
    options.allowsBareLF = expected.options?.allowsBareLF ?? false
    if let escaping = expected.options?.escaping {
      let profile = EscapingProfile.all.first { $0.description == escaping }
      options.escaping = profile
      #expect(profile != nil)
    }

    for cuts in [0..<0, 0..<body.count] {
      let run = try ParserRun(
        Array(body), boundary: expected.boundary, cuts: cuts, options: options)
      #expect(run.isComplete == (expected.error == nil))
      #expect(run.code?.rawValue == expected.error?.code)
      #expect(run.offset == expected.error?.offset)
      guard let parts = expected.parts else { continue }
      #expect(
        run.parts.map {
          Expected.Part(
            name: $0.head.name, filename: $0.head.filename, contentType: $0.head.contentType,
            body: $0.text)
        } == parts)
    }
  }
}
