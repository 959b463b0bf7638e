import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// The responses of `Tests/Corpus/wire` are read as by curl 7.88, but for the rows of docs/responses.md.
@Suite(.timeLimit(.minutes(5))) struct ResponseComparisonTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
  private static let corpus = root.appending(path: "Tests/Corpus/wire")

  /// What decides how a response of the corpus is asked for.
  private struct Question: Decodable {
    var method: String?
    var upload: String?
    var ending: String?

    /// Whether one GET or HEAD gets the whole response.
    var isPlain: Bool { upload == nil && ending == nil && ["GET", "HEAD"].contains(method ?? "GET") }
  }

  /// A row of the page: what each of the two makes of a response.
  private struct Reading: Hashable {
    let ours: String
    let curl: String
  }

  private static func rows() throws -> [String: Reading] {
    let page = try String(contentsOf: root.appending(path: "docs/responses.md"), encoding: .utf8)
    var rows: [String: Reading] = [:]
    for line in page.split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let name = try #require(cells.first).trimmingCharacters(in: ["`"])
      rows[name] = Reading(ours: cells[cells.count - 2], curl: cells[cells.count - 1])
    }
    return rows
  }

  private static func shown(_ status: Int, _ count: Int) -> String {
    "\(status), \(count == 0 ? "no bytes" : count == 1 ? "1 byte" : "\(count) bytes")"
  }

  private func ours(_ url: String, _ method: HTTPMethod) async throws -> String {
    let result = try await makeSession().result(of: makeRequest(method, url, nil))
    guard let response = result.response, !response.isTruncated, result.error.map({ $0.code == .statusRefused }) ?? true
    else { return "refused" }
    return Self.shown(response.status, response.body.count)
  }

  private func curls(_ url: String, _ method: HTTPMethod) throws -> String {
    let flags = ["-m", "30", "--http1.1", "-o", "/dev/null", "-w", "%{http_code} %{size_download}"]
    let end = try curl(flags + (method == .head ? ["-I"] : []) + [url])
    guard end.exit == 0 else { return "refused" }
    let numbers = end.output.split(separator: " ").compactMap { Int($0) }
    try #require(numbers.count == 2, "\(end.output)")
    return Self.shown(numbers[0], method == .head ? 0 : numbers[1])
  }

  @Test func `each response that curl reads differently has a row, and no other one has`() async throws {
    var rows = try Self.rows()
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path()).filter { $0.hasSuffix(".http") }
    let hasCurl = (try? curl("--version").output.hasPrefix("curl 7.88.")) == true
    var compared = 0
    for name in names.map({ String($0.dropLast(".http".count)) }).sorted() {
      let expected = try Data(contentsOf: Self.corpus.appending(path: "\(name).expected.json"))
      let question = try JSONDecoder().decode(Question.self, from: expected)
      guard question.isPlain else { continue }
      compared += 1
      let response = try Data(contentsOf: Self.corpus.appending(path: "\(name).http"))
      let server = try ScriptedServer { _ in [.readBody, .send(Array(response)), .closeWrite] }
      let method: HTTPMethod = question.method == "HEAD" ? .head : .get
      let ours = try await ours(server.url, method)
      let row = rows.removeValue(forKey: name)
      if let row { #expect(row.ours == ours, "\(name)") }
      guard hasCurl else { continue }
      let curls = try curls(server.url, method)
      #expect(row?.curl ?? ours == curls, "\(name): FormStream: \(ours)")
      #expect(row == nil || ours != curls, "\(name) is read alike")
    }
    #expect(compared > 300)
    #expect(rows.isEmpty)
  }
}
