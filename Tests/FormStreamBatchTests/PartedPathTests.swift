import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Testing

@testable import FormStreamBatch

/// Two paths that led to one file when a state was written, and lead to two files later.
@Suite struct PartedPathTests {
  private let place: TemporaryDirectory

  init() throws {
    place = try TemporaryDirectory(inMemory: true)
    for name in ["j", "d"] { try makeDirectory(place.local(name)) }
    try FileManager.default.createSymbolicLink(atPath: place.path("l"), withDestinationPath: "d")
  }

  private func file(_ name: String, size: Int64 = 1) -> BatchFile {
    let path = place.local(name)
    return BatchFile(path: path, root: nil, relative: path, manifestPath: path, size: size, modified: 5)
  }

  private func round(_ number: Int, _ file: BatchFile, _ outcome: BatchState?) throws {
    _ = try place.makeRound(number, in: "j", below: nil, [TemporaryDirectory.record(of: file, outcome)])
  }

  /// Sums up all rounds.
  private func sumUp(through number: Int) throws {
    let earlier = try EarlierManifests(of: JournalSet(in: [place.local("j")]), taking: .rounds(in: place.local("j")))
    var writer = try StateWriter(earlier, in: place.local("j"), sliceSize: nil, temporaryDirectory: LocalPath(place.path))
    try #require(try writer.sumUp(through: number, boot: "b"))
  }

  /// The link becomes a directory of its own.
  private func part() throws {
    try FileManager.default.removeItem(atPath: place.path("l"))
    try makeDirectory(place.local("l"))
  }

  private func next(_ files: [BatchFile]) throws -> (round: Round, lines: [String]) {
    let earlier = try EarlierManifests(of: JournalSet(in: [place.local("j")]), taking: .rounds(in: place.local("j")))
    var comparison = RoundComparison(RoundRules(), against: earlier, in: LocalPath(place.path))
    if let state = earlier.journals.state { try comparison.add(state) }
    for path in earlier.paths { try comparison.add(path, boot: "b") }
    var entries = try comparison.compare(MadeListing(files, below: nil))
    return (entries.round, try entries.lines())
  }

  /// The names in the lines, and whether the server may have a version of each.
  private func marks(_ lines: [String]) -> [String: Bool] {
    var marks: [String: Bool] = [:]
    for line in lines where line.contains(#""path""#) {
      marks[line.contains("/l/f") ? "l/f" : "d/f"] = line.contains(#""maybe_duplicate":true"#)
    }
    return marks
  }

  /// Regression: only one of the two paths had a history then. The file at the other path was sent as a new one, without a mark.
  ///
  /// Which of the two files the server has is not known, whatever became of them: a later round may have doubted or cleared what an
  /// earlier one said of the other.
  @Test(arguments: [BatchState.unknown, .ok, .failed], [BatchState.unknown, .ok, .failed])
  func `both files are sent again, and marked`(_ first: BatchState, _ second: BatchState) throws {
    try round(1, file("l/f"), first)
    try round(2, file("l/f", size: 3), .failed)
    try round(3, file("d/f", size: 2), second)
    try sumUp(through: 3)
    try part()
    let (_, lines) = try next([file("l/f"), file("d/f", size: 2)])
    #expect(marks(lines) == ["l/f": true, "d/f": true], "\(lines)")
  }

  /// The state still knows the path whose file a later round had under the other path.
  @Test func `both are still marked after the next state`() throws {
    try round(1, file("l/f"), .ok)
    try round(2, file("d/f", size: 2), .ok)
    try sumUp(through: 2)
    try part()
    try round(3, file("g"), .ok)
    try sumUp(through: 3)
    let (_, lines) = try next([file("l/f"), file("d/f", size: 2), file("g")])
    #expect(marks(lines) == ["l/f": true, "d/f": true], "\(lines)")
  }

  @Test func `a report counts one file, with its last outcome`() throws {
    try round(1, file("l/f"), .ok)
    try round(2, file("l/f", size: 3), .failed)
    try round(3, file("d/f", size: 2), .failed)
    try sumUp(through: 3)
    try part()
    let report = try BatchReport(
      on: [], in: [place.local("j")], boot: "b", temporaryDirectory: LocalPath(place.path),
      summedUp: JournalSet(in: [place.local("j")]), begin: { _ in }, rest: { _ in })
    #expect(report.files == 1 && report.states[.ok] == nil && !report.isComplete)
  }

  @Test func `a file that many links have led to has a short line`() throws {
    for number in 1...9 {
      try FileManager.default.createSymbolicLink(atPath: place.path("l\(number)"), withDestinationPath: "d")
      try round(number, file("l\(number)/f", size: Int64(number)), .ok)
    }
    try sumUp(through: 9)
    let (round, lines) = try next([file("d/f", size: 9)])
    #expect(round.unchanged == 1, "\(lines)")
  }
}
