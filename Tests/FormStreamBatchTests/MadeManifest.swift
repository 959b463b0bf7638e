import FormStreamHTTP
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport

@testable import FormStreamBatch

/// Files that were listed, and can't be opened.
final class MadeListing: BatchInput {
  let root: LocalPath?
  var hasOneRoot: Bool { root != nil }
  var leftOut: LeftOutEntries { LeftOutEntries() }
  private var files: ArraySlice<BatchFile>

  init(_ files: [BatchFile], below root: LocalPath? = "/r") { (self.files, self.root) = (files[...], root) }

  func next() -> BatchFile? { files.popFirst() }
}

extension BatchFile {
  /// A file below `/r`, where nothing is.
  static func made(_ name: String, size: Int64 = 1, modified: Int64 = 5, isReadable: Bool = true) -> BatchFile {
    BatchFile(
      path: LocalPath("/r/\(name)"), root: "/r", relative: LocalPath(name), manifestPath: LocalPath(name), size: size,
      modified: modified, problem: isReadable ? nil : BatchError(.inputUnreadable, on: name, "It can't be read."))
  }
}

extension RoundEntries {
  /// All lines.
  mutating func lines() throws -> [String] {
    var bytes: [UInt8] = []
    while let piece = try nextPiece() { bytes += piece }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

extension TemporaryDirectory {
  /// A record of a manifest, and the lines of the journal about it. `OFFSET` in these lines stands for the place of the record.
  typealias MadeRecord = (line: [UInt8], journal: [String])

  /// Writes the manifest of a round, and the journal of the run that has sent it.
  ///
  /// - Parameters:
  ///   - folder: the folder for both, which has names as runs give them; nil for names that no run gives.
  ///   - more: what follows the records in the manifest.
  func makeRound(
    _ number: Int, in folder: String? = nil, below root: LocalPath? = "/r", _ records: [MadeRecord], more: String = "",
    sliceSize: Int64? = nil, isClosed: Bool = true
  ) throws -> LocalPath {
    let id = "11111111-1111-4111-8111-11111111111\(number)"
    let encoder = ManifestEncoder(
      root: root, id: id, listing: folder.map { _ in "l" }, hasOneRoot: root != nil, round: Round(number: number))
    let head = JournalHead(
      manifest: id, shard: nil, url: "http://h/", boot: "b", sliceSize: sliceSize, begun: nanosecondsSince1970(),
      run: folder.map { _ in "22222222-2222-4222-8222-22222222222\(number)" })
    var manifest = encoder.header
    var journal = String(decoding: head.json.line(), as: UTF8.self)
    for record in records {
      for line in record.journal { journal += line.replacing("OFFSET", with: "\(manifest.count)") + "\n" }
      manifest += record.line
    }
    if isClosed { journal += #"{"schema":"formstream.closed/1","complete":true}"# + "\n" }
    try write(folder.map { "\($0)/journal-all-\(number).jsonl" } ?? "journal-\(number).jsonl", journal)
    let name = folder.map { "\($0)/\(String(decoding: RecordedRounds.name(of: number).bytes, as: UTF8.self))" }
    return try write(name ?? "m\(number)", manifest + Array(more.utf8))
  }

  /// The record of a file, and of what became of it; nil if nothing is known.
  static func record(of file: BatchFile, _ outcome: BatchState?) -> MadeRecord {
    (
      ManifestEncoder.line(for: file),
      outcome.map { [#"{"schema":"formstream.record/1","offset":OFFSET,"outcome":"\#($0.rawValue)"}"#] } ?? []
    )
  }
}
