import FormStreamTestSupport
import Foundation
import Testing

/// docs/coming-from-other-libraries.md: each row is compiled and run here.
@Suite struct OtherLibrariesTests {
  private static let all: [(heading: String, file: String, calls: [ReplacedCall])] = [
    ("AFNetworking", "AFNetworkingCalls", ReplacedCall.afNetworking),
    ("Alamofire", "AlamofireCalls", ReplacedCall.alamofire),
    ("URLSession", "URLSessionCalls", ReplacedCall.urlSession),
    ("requests-toolbelt", "RequestsToolbeltCalls", ReplacedCall.requestsToolbelt),
  ]

  @Test(arguments: ReplacedCall.afNetworking) func `calls of AFNetworking have a counterpart`(
    _ call: ReplacedCall
  ) async throws {
    try await call.check()
  }

  @Test(arguments: ReplacedCall.alamofire) func `calls of Alamofire have a counterpart`(
    _ call: ReplacedCall
  ) async throws {
    try await call.check()
  }

  @Test(arguments: ReplacedCall.urlSession) func `calls of URLSession have a counterpart`(
    _ call: ReplacedCall
  ) async throws {
    try await call.check()
  }

  @Test(arguments: ReplacedCall.requestsToolbelt) func `calls of the toolbelt have a counterpart`(
    _ call: ReplacedCall
  ) async throws {
    try await call.check()
  }

  @Test func `the page has these rows, and the code that is run`() throws {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let root = here.appending(path: "../../..")
    let page = try String(
      contentsOf: root.appending(path: "docs/coming-from-other-libraries.md"), encoding: .utf8)
    // The change log says how many calls there are.
    let changes = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
    let count = Self.all.map { $0.calls.count }.reduce(0, +)
    #expect(changes.contains("has \(count) calls of"), "\(count)")
    for (heading, file, calls) in Self.all {
      let section = try #require(page.components(separatedBy: "\n## \(heading)\n").dropFirst().first)
      let rows = section.components(separatedBy: "\n## ")[0].split(separator: "\n")
        .filter { $0.hasPrefix("| ") }.dropFirst()
        .map { row in row.components(separatedBy: " | ") }
      #expect(rows.map { String($0[0].dropFirst(2)) } == calls.map(\.there), "\(heading)")

      let source = try String(contentsOf: here.appending(path: "\(file).swift"), encoding: .utf8)
      let code = source.components(separatedBy: "    ReplacedCall(").dropFirst()
      try #require(code.count == rows.count)
      for (row, code) in zip(rows, code) {
        let snippets = row[1].matches(of: /`(?<code>[^`]+)`/).map { String($0.code) }
        #expect(!snippets.isEmpty, "\(row)")
        for snippet in snippets { #expect(code.contains(snippet), "\(row[0]): \(snippet)") }
      }
    }
  }
}
