import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

@testable import FormStreamBatch

/// What a new round has, compared with the rounds before it.
@Suite struct RoundComparisonTests {
  private let place: TemporaryDirectory
  private let id = "11111111-1111-4111-8111-111111111111"

  init() throws {
    place = try TemporaryDirectory(inMemory: true)
  }

  /// Files that were listed, and can't be opened.
  private final class Listed: BatchInput {
    var root: LocalPath? { "/r" }
    var hasOneRoot: Bool { true }
    var leftOut: LeftOutEntries { LeftOutEntries() }
    private var files: ArraySlice<BatchFile>

    init(_ files: [BatchFile]) { self.files = files[...] }

    func next() -> BatchFile? { files.popFirst() }
  }

  private static func file(_ name: String, size: Int64 = 1, modified: Int64 = 5) -> BatchFile {
    BatchFile(
      path: LocalPath("/r/\(name)"), root: "/r", relative: LocalPath(name),
      manifestPath: LocalPath(name), size: size, modified: modified)
  }

  /// Writes a manifest of files with sizes of 1, and a journal with their outcomes; nil for a file without an outcome.
  private func write(
    _ number: Int, _ files: [(name: String, outcome: BatchState?)], more: String = "",
    isClosed: Bool = true
  ) throws -> LocalPath {
    let id = id.dropLast() + "\(number)"
    var encoder = ManifestEncoder(
      root: "/r", id: String(id), hasOneRoot: true, round: Round(number: number))
    var manifest = String(decoding: encoder.header, as: UTF8.self)
    var journal = String(
      decoding: JournalHead(manifest: String(id), shard: nil, url: "http://h/", boot: "b", begun: nanosecondsSince1970()).json
        .line(),
      as: UTF8.self)
    for (name, outcome) in files {
      let offset = encoder.offset
      manifest += String(decoding: encoder.line(for: Self.file(name)), as: UTF8.self)
      guard let outcome else { continue }
      journal +=
        #"{"schema":"formstream.record/1","offset":\#(offset),"outcome":"\#(outcome.rawValue)"}"# + "\n"
    }
    if isClosed { journal += #"{"schema":"formstream.closed/1","complete":true}"# + "\n" }
    try place.write("journal-\(number).jsonl", journal)
    return try place.write("m\(number)", manifest + more)
  }

  private func compare(
    _ manifests: [LocalPath], _ listed: [BatchFile], window: Int64 = 1 << 30
  ) throws -> (round: Round, lines: [String]) {
    var comparison = RoundComparison(
      RoundRules(), against: try EarlierManifests(of: JournalSet(in: [LocalPath(place.path)]), named: manifests),
      in: LocalPath(place.path))
    for manifest in manifests { try comparison.add(manifest, boot: "b", window: window) }
    var entries = try comparison.compare(Listed(listed))
    var bytes: [UInt8] = []
    while let piece = try entries.nextPiece() { bytes += piece }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    return (entries.round, lines)
  }

  @Test func `a directory that can't be listed hides what is in it, and nothing else`() throws {
    let names = ["a", "d-x", "d/e/f", "d/g", "da", "e"]
    let first = try write(1, names.map { ($0, .ok) })
    var unlistable = Self.file("d")
    unlistable.problem = BatchError(.inputUnreadable, on: "d", "It can't be read.")
    let (round, lines) = try compare([first], [Self.file("a"), unlistable])
    #expect((round.unchanged, round.gone, round.new) == (1, 3, 1))
    #expect(lines.filter { $0.contains("gone") }.count == 3)
    #expect(!lines.contains { $0.contains("d/") })
  }

  @Test func `a version that came back is sent unless it was the last one that arrived`() throws {
    let first = try write(1, [("a", .ok), ("b", .ok), ("c", .ok)])
    // The next versions are larger in the listing of round 2, and have other outcomes.
    let id = self.id.dropLast() + "2"
    var encoder = ManifestEncoder(
      root: "/r", id: String(id), hasOneRoot: true, round: Round(number: 2))
    var manifest = String(decoding: encoder.header, as: UTF8.self)
    var journal = String(
      decoding: JournalHead(manifest: String(id), shard: nil, url: "http://h/", boot: "b", begun: nanosecondsSince1970()).json
        .line(),
      as: UTF8.self)
    for (name, outcome) in [("a", "ok"), ("b", "failed"), ("c", "unknown")] {
      journal +=
        #"{"schema":"formstream.record/1","offset":\#(encoder.offset),"outcome":"\#(outcome)"}"# + "\n"
      manifest += String(
        decoding: encoder.line(for: Self.file(name, size: 2)), as: UTF8.self)
    }
    try place.write("journal-2.jsonl", journal + #"{"schema":"formstream.closed/1"}"# + "\n")
    let second = try place.write("m2", manifest)
    let (round, lines) = try compare([first, second], ["a", "b", "c"].map { Self.file($0) })
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
    let listed = [Self.file("f3"), Self.file("new"), Self.file("f7", size: 9)]
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
    let (round, lines) = try compare([first], ["a", "b", "c", "d"].map { Self.file($0) })
    #expect((round.again, round.unchanged) == (3, 1))
    let marked = lines.filter { $0.contains(#""maybe_duplicate":true"#) }
    // The machine was not started again, so no line about c is lost.
    #expect(marked.count == 2 && marked[0].contains(#""a""#) && marked[1].contains(#""b""#))
    #expect(!marked.contains { $0.contains("key_record") })
  }
}
