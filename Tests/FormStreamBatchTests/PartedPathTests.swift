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

  /// The names that the server may have a version of.
  private func marked(_ lines: [String]) -> [String] {
    lines.filter { $0.contains(#""maybe_duplicate":true"#) }.map { $0.contains("/l/f") ? "l/f" : "d/f" }
  }

  /// Regression: only one of the two paths had a history then. The file at the other path was sent as a new one, without a mark.
  @Test(arguments: [BatchState.unknown, .ok])
  func `each of the paths keeps its history`(_ outcome: BatchState) throws {
    try round(1, file("l/f"), outcome)
    try round(2, file("d/f", size: 2), .failed)
    try sumUp(through: 2)
    try part()
    let (round, lines) = try next([file("l/f"), file("d/f", size: 2)])
    switch outcome {
    case .ok: #expect((round.unchanged, round.again, round.new) == (1, 1, 0), "\(lines)")
    default:
      #expect((round.unchanged, round.again, round.new) == (0, 2, 0), "\(lines)")
      #expect(marked(lines).contains("l/f"), "\(lines)")
    }
  }

  /// The state still knows the path whose file a later round had under the other path.
  @Test func `a path that an old round had keeps its history, also in the next state`() throws {
    try round(1, file("l/f"), .ok)
    try round(2, file("d/f", size: 2), .ok)
    try sumUp(through: 2)
    try part()
    for number in 3...4 {
      let (round, lines) = try next([file("l/f"), file("d/f", size: 2)])
      #expect((round.unchanged, round.new, round.changed) == (2, 0, 0), "\(lines)")
      guard number == 3 else { continue }
      try self.round(3, file("g"), .ok)
      try sumUp(through: 3)
    }
    let report = try BatchReport(
      on: [], in: [place.local("j")], boot: "b", temporaryDirectory: LocalPath(place.path),
      summedUp: JournalSet(in: [place.local("j")]), begin: { _ in }, rest: { _ in })
    #expect(report.files == 3 && report.isComplete)
  }
}
