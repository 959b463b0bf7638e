import FormStreamTestSupport
import Foundation
import Testing

@testable import FormStreamHTTP

/// A row of a table in docs/urls.md.
struct URLTableRow: CustomTestStringConvertible {
  /// The URL or the reference.
  let text: String
  /// The base of a reference; nil for a URL.
  let base: String?
  /// The value of `Host` and the request target of curl; nil if it refuses the text, or requests something else than http.
  let curl: String?
  /// The value of `Host` and the request target of FormStream; nil if it refuses the text.
  let ours: String?

  var testDescription: String { text }

  /// All rows, in the order of the page.
  static let all: [URLTableRow] = {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/urls.md")
    guard let text = try? String(contentsOf: page, encoding: .utf8) else { return [] }
    var rows: [URLTableRow] = []
    var base: String?
    for line in text.split(separator: "\n") where line.hasPrefix("| ") {
      let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
      guard let first = spans(cells[0]).first else {
        base = cells[0] == "Reference" ? "http://h.example/b/c?q" : nil
        continue
      }
      rows.append(
        URLTableRow(text: first, base: base, curl: answer(cells[1]), ours: answer(cells[cells.count - 1])))
    }
    return rows
  }()

  private static func answer(_ cell: String) -> String? {
    let spans = spans(cell)
    return spans.count == 2 ? spans.joined(separator: " ") : nil
  }

  /// The code in a cell.
  private static func spans(_ cell: String) -> [String] {
    let marks = ["\\|": "|", "␠": " ", "␉": "\t", "␊": "\n", "␡": "\u{7F}"]
    return cell.matches(of: /`` (?<long>.+?) ``|`(?<short>[^`]+)`/).map { match in
      marks.reduce(String(match.long ?? match.short ?? "")) { $0.replacing($1.key, with: $1.value) }
    }
  }
}

/// The table of docs/urls.md is what FormStream and curl do.
@Suite struct URLTableTests {
  @Test func `the page has its rows`() {
    #expect(URLTableRow.all.count > 140)
    #expect(URLTableRow.all.count { $0.base != nil } > 20)
    #expect(URLTableRow.all.count { $0.ours == nil } > 60)
  }

  @Test func `each row says what is requested`() {
    for row in URLTableRow.all {
      let url = Result { () throws(URLFlaw) in
        guard let base = row.base else { return try URLParts(parsing: row.text) }
        return try URLParts(parsing: base).resolving(row.text)
      }
      let found = (try? url.get()).map { "\($0.hostField) \($0.requestTarget)" }
      #expect(found == row.ours, "\(row.text)")
      // The public type does the same, and its errors name a remedy.
      let whole = Result { () throws(TransferError) in
        guard let base = row.base else { return try HTTPURL(row.text) }
        return try HTTPURL(base).resolving(row.text)
      }
      #expect((try? whole.get())?.absoluteString == (try? url.get())?.absoluteString, "\(row.text)")
      if case .failure(let error) = whole {
        #expect(error.code == .invalidURL && error.description.contains(": "), "\(row.text): \(error)")
      }
    }
  }

  @Test(.enabled(if: InstalledCurl.is788)) func `each row says what curl requests`() throws {
    let references = URLTableRow.all.map(\.base)
    let texts = URLTableRow.all.map(\.text)
    let server = try ScriptedServer { request in
      guard let row = request.header("X-Row").flatMap({ Int($0) }), references[row] != nil,
        request.target == "/b/c?q"
      else { return .good() }
      return .good(307, headers: [("Location", texts[row])])
    }
    for (number, row) in URLTableRow.all.enumerated() where !row.text.hasPrefix("ftp:") {
      let before = server.requests.count
      _ = try run(
        program: "/usr/bin/env",
        [
          "curl", "-q", "-gsS", "--noproxy", "*", "--connect-to", "::127.0.0.1:\(server.port)", "-H", "X-Row: \(number)",
          "-L", "--max-redirs", "1", row.base ?? row.text,
        ], environment: ["LC_ALL": "C.UTF-8"])
      let requests = server.requests.dropFirst(before + (row.base == nil ? 0 : 1))
      // `header` leaves out a Host with DEL.
      let found = requests.first.map { request in
        let head = String(decoding: request.head, as: UTF8.self)
        return "\(head.firstMatch(of: /\r\nHost: ([^\r]*)\r\n/)?.1 ?? "") \(request.target)"
      }
      #expect(found == row.curl, "\(row.text)")
    }
  }
}
