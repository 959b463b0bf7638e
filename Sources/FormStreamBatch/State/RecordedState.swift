import FormStreamDigest
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

/// What the old rounds of a directory of journals say, summed up in one file, `state.jsonl`.
///
/// The next round and a report are the same whether they read this file or the manifests and journals of these rounds, so these may
/// be deleted. The file is used only while it says all there is: if a journal that it sums up has grown, or if there is another one
/// of these rounds, it is not.
package struct RecordedState: Sendable {
  package static let fileName = "state.jsonl"
  static let name = FileName(fileName)
  static let schema = "formstream.state/1"
  static let endSchema = "formstream.state-end/1"
  /// No line is longer: it has a manifest's record of a file, and may have a journal's.
  static let maximumLine = 32 * ManifestReader.maximumLine

  /// The first line.
  struct Head {
    /// The number of the last round that is summed up.
    var through: Int
    /// When the state was made, in nanoseconds since 1970.
    var time: Int64
    /// The number that `{index}` stands for in the next new file.
    var nextIndex: Int
    /// The size of the slices by which the journals were read; nil if files were sent in one piece.
    var sliceSize: Int64?
    /// How many manifests and journals are summed up. Not all of them have a line.
    var counts: StateManifests.Counts
    /// Where the runs have sent their files, also those without a line.
    var targets: Set<StateManifests.Target>
    /// How many bytes of the files of settled doubts were read, by their names. What follows was added later.
    var settled: [[UInt8]: Int64]
    /// How many lines about manifests follow.
    var manifests: Int
  }

  /// The directory of the journals.
  let directory: LocalPath
  private let head: Head
  /// The manifests that are summed up, in the order of the rounds. Those that are left out have no files any more, and no entry is
  /// about them.
  let manifests: StateManifests
  /// Stays open, because the next state may replace it.
  private let file: RandomAccessFile
  /// Where the lines about paths begin.
  private let entries: Int64

  package var through: Int { head.through }
  var nextIndex: Int { head.nextIndex }
  var sliceSize: Int64? { head.sliceSize }
  var counts: StateManifests.Counts { head.counts }
  var targets: Set<StateManifests.Target> { head.targets }
  var settled: [[UInt8]: Int64] { head.settled }
  private var path: LocalPath { directory.appending(Self.name.bytes) }

  /// Whether a file beside the state is one of those that it sums up.
  func sumsUp(_ file: LocalPath) -> Bool {
    manifests.files[file.name.bytes] != nil && directory.appending(file.name.bytes) == file
  }

  /// Whether the manifest with this id is summed up.
  func sumsUp(manifest id: String) -> Bool { manifests[id] != nil }

  /// A file that the state sums up and that is not there any more, as the beginning of a sentence; nil if all are there.
  ///
  /// - Throws: `journalUnreadable`.
  var firstDeleted: String? {
    get throws(BatchError) {
      let names = Set(try JournalReader.names(in: directory).map(\.bytes))
      var deleted = manifests.files.keys.filter { !names.contains($0) }
      if !deleted.isEmpty {
        let renamed = try renamedJournals(besides: names)
        deleted.removeAll(where: renamed.contains)
      }
      if let deleted = deleted.min(by: { $0.lexicographicallyPrecedes($1) }) {
        return "The file \(LocalPath(bytes: deleted).description.quoted)"
      }
      return manifests.all.count < counts.manifests ? "A manifest" : nil
    }
  }

  /// The names of journals that are there under other names: a journal may have been copied, and one of both removed.
  private func renamedJournals(besides names: Set<[UInt8]>) throws(BatchError) -> Set<[UInt8]> {
    let missing = manifests.all.flatMap(\.journals).filter { !names.contains($0.name) && $0.run != nil }
    guard !missing.isEmpty else { return [] }
    var sizes: [String: Int64] = [:]
    for path in try JournalReader.journals(in: directory) {
      guard let run = try JournalReader.head(of: path)?.run else { continue }
      sizes[run] = max(sizes[run] ?? 0, try JournalReader.size(of: path))
    }
    return Set(missing.filter { $0.run.flatMap { sizes[$0] } ?? 0 >= $0.size }.map(\.name))
  }

  /// The paths of the files that the state sums up, and that are still there: it stands for them, so they may be deleted.
  ///
  /// - Throws: `journalUnreadable`.
  package var deletable: [LocalPath] {
    get throws(BatchError) {
      try JournalReader.names(in: directory).filter { manifests.files[$0.bytes] != nil }.map { directory.appending($0.bytes) }
        .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }
  }

  // MARK: Opening

  /// The file of the state in a directory; nil if there is none.
  static func identity(in directory: LocalPath) -> FileIdentity? {
    (try? FileStatus(of: directory.appending(name.bytes), followsSymlinks: true))?.identity
  }

  /// The state of a directory.
  enum Found {
    case none
    case usable(RecordedState)
    /// The reason is the end of a sentence about the state. There is no state if it is damaged.
    case unusable(reason: String, RecordedState?)
  }

  /// Finds the state of a directory, and checks that it is whole, and that nothing was added to what it sums up.
  ///
  /// - Throws: `journalUnreadable` if the directory can't be read.
  static func find(in directory: LocalPath) throws(BatchError) -> Found {
    let names = Set(try JournalReader.names(in: directory).map(\.bytes))
    guard names.contains(name.bytes) else { return .none }
    let state: RecordedState
    do throws(Unusable) { state = try RecordedState(in: directory) } catch { return .unusable(reason: error.reason, nil) }
    for (name, size) in state.manifests.files where names.contains(name) {
      let path = directory.appending(name)
      var found: Int64?
      do throws(SystemError) { found = try FileStatus(of: path, followsSymlinks: true).identity.size } catch {
        // It may have been deleted after the directory was listed.
        if error == .notFound { continue }
      }
      guard found == size else {
        return .unusable(reason: "\(LocalPath(bytes: name).description.quoted) is not as it was", state)
      }
    }
    return .usable(state)
  }

  private struct Unusable: Error {
    let reason: String
  }

  private init(in directory: LocalPath) throws(Unusable) {
    self.directory = directory
    let path = directory.appending(Self.name.bytes)
    let opened: RandomAccessFile?
    do throws(SystemError) { opened = try RandomAccessFile(reading: path) } catch {
      throw Unusable(reason: "it can't be read: \(error)")
    }
    guard let file = opened else { throw Unusable(reason: "it is not a regular file") }
    self.file = file
    var lines = LineReader(file, from: 0, maximumLine: Self.maximumLine)
    do {
      let first = try lines.next()
      guard let first, let json = try? JSONValue(parsing: first.bytes), let schema = json["schema"]?.text,
        schema.hasPrefix("formstream.state/")
      else { throw Unusable(reason: "it is damaged") }
      guard schema == Self.schema else { throw Unusable(reason: "another version of this program has written it") }
      try Self.checkDigest(of: file)
      guard let head = Head(json) else { throw Unusable(reason: "it is damaged") }
      self.head = head
      var manifests = StateManifests()
      for _ in 0..<head.manifests {
        guard let line = try lines.next(), let json = try? JSONValue(parsing: line.bytes),
          let manifest = StateManifests.Manifest(json)
        else { throw Unusable(reason: "it is damaged") }
        manifests.add(manifest)
      }
      self.manifests = manifests
      entries = lines.position
    } catch let error as Unusable {
      throw error
    } catch {
      throw Unusable(reason: "it can't be read")
    }
  }

  /// Throws unless the last line has the digest of all the others.
  private static func checkDigest(of file: RandomAccessFile) throws {
    var hash = try SHA256()
    var rest = try file.size - Int64(endLineSize)
    var offset: Int64 = 0
    guard rest > 0 else { throw Unusable(reason: "it is damaged") }
    while rest > 0 {
      let piece = try file.read(Int(min(rest, 256 * 1024)), at: offset)
      guard !piece.isEmpty else { throw Unusable(reason: "it is damaged") }
      try piece.withUnsafeBytes { try hash.update($0) }
      offset += Int64(piece.count)
      rest -= Int64(piece.count)
    }
    let digest = try hash.finalize()
    guard try file.read(endLineSize, at: offset) == endLine(digest) else { throw Unusable(reason: "it is damaged") }
  }

  /// The last line.
  static func endLine(_ digest: SHA256Digest?) -> [UInt8] {
    let text = digest?.description ?? String(repeating: "0", count: 2 * SHA256Digest.byteCount)
    return (["schema": .string(endSchema), "sha256": .string(text)] as JSONValue).line()
  }

  private static let endLineSize = endLine(nil).count

  // MARK: Reading

  /// Passes on what is known about each path, sorted by path as it was when the state was written.
  ///
  /// - Parameter notesVersions: whether a report has the size and the time of the version that was accepted.
  func forEach(
    notesVersions: Bool = true, _ receive: (StateHistory) throws(BatchError) -> Void
  ) throws(BatchError) {
    var lines = LineReader(file, from: entries, maximumLine: Self.maximumLine)
    var keys = FileKeys()
    while true {
      let line: LineReader.Line?
      do throws(LineReader.Failure) { line = try lines.next() } catch {
        if case .system(let error) = error { throw JournalReader.unreadable(path, error) }
        throw Self.malformed(path, "a line is too long")
      }
      guard let line, let json = try? JSONValue(parsing: line.bytes) else { throw Self.malformed(path, "it ends early") }
      if json["schema"] != nil { return }
      let history = try StateHistory(json, in: manifests, of: path, notesVersions: notesVersions)
      for part in history.parted(by: &keys) { try receive(part) }
    }
  }

  /// The error for a state whose lines a run has not written.
  static func malformed(_ path: LocalPath, _ reason: String) -> BatchError {
    BatchError(
      .manifestMalformed, on: path.description,
      "The file \(path.description.quoted) is malformed: \(reason). Remove it, if the manifests and journals that it sums up are "
        + "still there.")
  }
}

extension RecordedState.Head {
  var json: JSONValue {
    [
      "schema": .string(RecordedState.schema), "through": .integer(Int64(through)), "time_ns": .integer(time),
      "next_index": .integer(Int64(nextIndex)), "slice_size": .integer(orNull: sliceSize), "summed_up": counts.json,
      "targets": .array(targets.sorted { ($0.url, $0.hasTemplate ? 1 : 0) < ($1.url, $1.hasTemplate ? 1 : 0) }.map(\.json)),
      "settled": .array(
        settled.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { name, size in
          let file = JSONValue.path(LocalPath(bytes: name))
          return ["file": file.text, "file_b64": file.base64, "size": .integer(size)]
        }),
      "manifests": .integer(Int64(manifests)),
    ]
  }

  /// Reads the line; nil if it is another one.
  init?(_ json: JSONValue) {
    guard let through = json["through"]?.integer, (1...Round.maximum).contains(through), let time = json["time_ns"]?.integer,
      let next = json["next_index"]?.integer.flatMap(Int.init(exactly:)), next >= 0,
      let manifests = json["manifests"]?.integer.flatMap(Int.init(exactly:)), manifests >= 0,
      let counts = json["summed_up"].flatMap(StateManifests.Counts.init), let targets = json["targets"]?.elements
    else { return nil }
    (self.through, self.time, nextIndex, self.manifests) = (Int(through), time, next, manifests)
    (sliceSize, self.counts, settled) = (json["slice_size"]?.integer, counts, [:])
    self.targets = Set(targets.compactMap(StateManifests.Target.init))
    for file in json["settled"]?.elements ?? [] {
      guard let name = (try? file.path("file")) ?? nil, let size = file["size"]?.integer else { return nil }
      settled[name.bytes] = size
    }
  }
}
