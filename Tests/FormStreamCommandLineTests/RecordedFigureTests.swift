import Foundation
import Testing

/// Measured figures in README.md and the pages in docs, compared with the newest record of the benchmarks.
@Suite struct RecordedFigureTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private struct Record: Decodable {
    struct Row: Decodable {
      let what: String
      let unit: String
      let ours: Double
      let peer: Double?
      let peer_name: String?
    }

    /// What `formstream bench --json` has measured.
    struct Uploads: Decodable {
      struct Program: Decodable {
        struct Size: Decodable {
          struct Run: Decodable { let peak: Int64? }
          let size: Int64
          let runs: [Run]
        }
        let name: String
        let sizes: [Size]
      }
      let schema: String
      let rounds: Int
      let programs: [Program]
    }

    let quick: Bool
    let rows: [Row]
    let uploads: Uploads
  }

  /// A row of the record, and where its two figures stand in a page.
  private static let figures: [(row: String, peer: String, text: String)] = [
    (
      "formstream encode: peak memory, 64 GiB", "itself, 1 MiB",
      "encodes a form of 64 GiB in {} KiB of memory (one of 1 MiB: {})"
    ),
    (
      "draining, 256 KiB buffer", "read(2)",
      "drains a file through `FormInputStream` at {} GiB/s (a bare `read(2)` loop: {})"
    ),
    (
      "parsing noise, 64 KiB pieces", "mime/multipart",
      "parses at {} GB/s (Go's `mime/multipart`: {})"
    ),
  ]

  private static func pages() throws -> [(name: String, text: String)] {
    let docs = try FileManager.default.contentsOfDirectory(
      atPath: root.appending(path: "docs").path
    )
    .filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
    return try (["README.md"] + docs).map { name in
      let text = try String(contentsOf: root.appending(path: name), encoding: .utf8)
      return (name, text.replacing(/\n *(> )?/, with: " "))
    }
  }

  private static func newest() throws -> (name: String, record: Record) {
    let runs = root.appending(path: "Benchmarks/runs")
    let name = try #require(FileManager.default.contentsOfDirectory(atPath: runs.path).max())
    let data = try Data(contentsOf: runs.appending(path: "\(name)/results.json"))
    return (name, try JSONDecoder().decode(Record.self, from: data))
  }

  /// A figure as the records' table has it: whole numbers with commas, others with three digits.
  private static func shown(_ figure: Double) -> String {
    guard figure < 1000 else {
      let digits = String(Int(figure.rounded()))
      return digits.count > 3 ? "\(digits.dropLast(3)),\(digits.suffix(3))" : digits
    }
    let places = figure >= 100 ? 0 : figure >= 10 ? 1 : 2
    return String(format: "%.\(places)f", figure)
  }

  /// Regression: README had the memory of a program that did not load libcurl yet, and the better of two records elsewhere.
  @Test func `figures are those of the newest record`() throws {
    let (name, record) = try Self.newest()
    #expect(!record.quick)
    let text = try Self.pages().map(\.text).joined(separator: " ")
    for figure in Self.figures {
      let row = try #require(
        record.rows.first { $0.what == figure.row && $0.peer_name == figure.peer },
        "\(name) has no row \(figure.row): drop the figure from the pages.")
      var expected = figure.text
      for value in [row.ours, try #require(row.peer)] {
        let place = try #require(expected.firstRange(of: "{}"))
        expected.replaceSubrange(place, with: Self.shown(value))
      }
      #expect(text.contains(expected), "\(name) says: \(expected)")
    }
  }

  @Test func `a page with figures links to the newest record, and to no other`() throws {
    let name = try Self.newest().name
    for page in try Self.pages() {
      let links = page.text.matches(of: /Benchmarks\/runs\/(?<record>[a-z0-9-]+)/)
        .map { String($0.record) }
      #expect(links.allSatisfy { $0 == name }, "\(page.name): \(links)")
      let rates = page.text.matches(of: /[0-9][0-9.,]* (GiB\/s|GB\/s|KiB of memory)/)
      #expect(rates.isEmpty || !links.isEmpty, "\(page.name): \(rates.map { String($0.0) })")
    }
  }

  @Test func `the figures beside the picture of memory are those of its record`() throws {
    let (name, record) = try Self.newest()
    #expect(record.uploads.schema == "formstream.bench/1" && record.uploads.rounds >= 5)
    let figures = try record.uploads.programs.map { program in
      let size = try #require(program.sizes.first { $0.size == 1 << 30 })
      #expect(size.runs.count == record.uploads.rounds)
      let median = size.runs.compactMap(\.peak).sorted()[size.runs.count / 2]
      let amount =
        median < 1 << 30
        ? "\(median >> 20) MiB" : String(format: "%.1f GiB", (Double(median) / Double(1 << 30) * 10).rounded(.down) / 10)
      return "\(program.name) \(amount)"
    }
    let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
      .replacing("\n", with: " ")
    let expected = "Memory for 1 GiB in a form: \(figures.joined(separator: ", "))"
    #expect(readme.contains(expected), "\(expected)")
    let path = "Benchmarks/runs/\(name)/memory-over-size.svg"
    #expect(readme.contains("](\(path))"))
    let picture = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    #expect(picture.matches(of: /<polyline/).count == record.uploads.programs.count)
    for program in record.uploads.programs { #expect(picture.contains(">\(program.name) ")) }
  }

  @Test func `every rate and every amount of memory on a page is compared`() throws {
    let found = try Self.pages().flatMap { page in
      page.text.matches(of: /[0-9][0-9.,]* (GiB\/s|GB\/s|KiB of memory)/).map { String($0.0) }
    }
    #expect(found.count == Self.figures.count, "\(found): add new ones to the table here.")
  }
}
