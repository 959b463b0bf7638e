import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

@testable import FormStreamBatch

/// What a new round has, compared with the rounds before it.
@Suite struct RoundComparisonTests {
  private let place: TemporaryDirectory

  init() throws {
    place = try TemporaryDirectory(inMemory: true)
  }

  /// Writes a manifest of files with sizes of 1, and a journal with their outcomes; nil for a file without an outcome.
  private func write(
    _ number: Int, _ files: [(name: String, outcome: BatchState?)], more: String = "", isClosed: Bool = true
  ) throws -> LocalPath {
    try place.makeRound(
      number, files.map { TemporaryDirectory.record(of: .made($0.name), $0.outcome) }, more: more, isClosed: isClosed)
  }

  private func compare(
    _ manifests: [LocalPath], _ listed: [BatchFile], window: Int64 = 1 << 30
  ) throws -> (round: Round, lines: [String]) {
    var comparison = RoundComparison(
      RoundRules(), against: try EarlierManifests(of: JournalSet(in: [LocalPath(place.path)]), named: manifests),
      in: LocalPath(place.path))
    for manifest in manifests { try comparison.add(manifest, boot: "b", window: window) }
    var entries = try comparison.compare(MadeListing(listed))
    return (entries.round, try entries.lines())
  }

  @Test func `a directory that can't be listed hides what is in it, and nothing else`() throws {
    let names = ["a", "d-x", "d/e/f", "d/g", "da", "e"]
    let first = try write(1, names.map { ($0, .ok) })
    var unlistable = BatchFile.made("d")
    unlistable.problem = BatchError(.inputUnreadable, on: "d", "It can't be read.")
    let (round, lines) = try compare([first], [.made("a"), unlistable])
    #expect((round.unchanged, round.gone, round.new) == (1, 3, 1))
    #expect(lines.filter { $0.contains("gone") }.count == 3)
    #expect(!lines.contains { $0.contains("d/") })
  }

  @Test func `a version that came back is sent unless it was the last one that arrived`() throws {
    let first = try write(1, [("a", .ok), ("b", .ok), ("c", .ok)])
    // The next versions are larger in the listing of round 2, and have other outcomes.
    let outcomes: [(String, BatchState)] = [("a", .ok), ("b", .failed), ("c", .unknown)]
    let second = try place.makeRound(2, outcomes.map { TemporaryDirectory.record(of: .made($0, size: 2), $1) })
    let (round, lines) = try compare([first, second], ["a", "b", "c"].map { .made($0) })
    // The server has the first version of b, and may have the second one of c.
    #expect((round.changed, round.unchanged, round.number) == (2, 1, 3))
    try #require(lines.count == 3)
    #expect(lines[0].contains(#""path":"a""#) && lines[2].contains(#""path":"c""#))
    #expect(lines[1] == #"{"path":"b","path_b64":null,"gone":false}"#)
    // If the server does not have the second version of c, it gets the first one once more.
    #expect(!lines[0].contains("maybe_duplicate") && lines[2].contains("maybe_duplicate"))
  }

  /// A manifest that is examined in parts has the same files, with the same indices.
  @Test(arguments: [1, 100, 1 << 30])
  func `indices stay, and new files get others`(_ window: Int64) throws {
    let first = try write(1, (0..<10).map { ("f\($0)", $0 == 3 ? .failed : .ok) })
    let listed: [BatchFile] = [.made("f3"), .made("new"), .made("f7", size: 9)]
    let (round, lines) = try compare([first], listed, window: window)
    #expect((round.new, round.changed, round.again, round.gone) == (1, 1, 1, 8))
    let indices = lines.compactMap { line in
      line.firstMatch(of: /"path":"(?<name>[^"]+)".*"index":(?<index>\d+)/).map {
        "\($0.name) \($0.index)"
      }
    }
    #expect(indices == ["f3 3", "f7 7", "new 10"])
    #expect(lines.contains { $0.contains("f3") && $0.contains("key_record") })
  }

  @Test func `a file in doubt is marked, and a run that was killed leaves all its files in doubt`() throws {
    let first = try write(
      1, [("a", .unknown), ("b", .failed), ("c", nil), ("d", .ok)], isClosed: false)
    let (round, lines) = try compare([first], ["a", "b", "c", "d"].map { .made($0) })
    #expect((round.again, round.unchanged) == (3, 1))
    let marked = lines.filter { $0.contains(#""maybe_duplicate":true"#) }
    // The machine was not started again, so no line about c is lost.
    #expect(marked.count == 2 && marked[0].contains(#""a""#) && marked[1].contains(#""b""#))
    #expect(!marked.contains { $0.contains("key_record") })
  }
}
