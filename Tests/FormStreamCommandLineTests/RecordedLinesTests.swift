import Foundation
import FormStreamTestSupport
import Testing

/// Scripts and later versions read records and lines of journals, so their bytes stay.
@Suite struct RecordedLinesTests {
  private static let records = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Records")

  /// If a difference is wanted, docs/records.md changes too, and `print-lines` makes the new lines.
  @Test func `each kind of record has the bytes that were recorded`() throws {
    let script = Self.records.appending(path: "print-lines").path
    let printed = try run(
      program: script, [], in: TemporaryDirectory(),
      environment: ["F": builtBinary("formstream")]
    ).output.split(separator: "\n")
    let recorded = try String(
      contentsOf: Self.records.appending(path: "lines.jsonl"), encoding: .utf8
    ).split(separator: "\n")
    #expect(printed.count == recorded.count)
    for (line, expected) in zip(printed, recorded) { #expect(line == expected) }
  }
}
