import FormStreamDigest
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

/// The files that may have been accepted twice, or were, and the journals with lines that can't be read, if somebody has looked at
/// them. Later reports don't count them. They are
/// in files of their own beside the journals, because a run and a report may write at the same time.
package struct SettledDoubts: Sendable {
  /// A file that may have been accepted twice.
  package struct Doubt: Hashable, Sendable {
    let manifest: String
    let offset: Int64
    /// Whether the file was certainly accepted twice.
    let isDuplicate: Bool
  }

  /// A journal with lines that can't be read.
  package struct DamagedJournal: Hashable, Sendable {
    /// The name of the run; the name of the file if the run has none.
    let name: String
    /// How many lines can't be read.
    let lines: Int
    /// The name of the file.
    let file: [UInt8]

    init(_ journal: StateManifests.Journal) {
      name = journal.run ?? String(decoding: journal.name, as: UTF8.self)
      file = journal.name
      lines = journal.damagedLines
    }

    init(_ journal: JournalSummary, lines: Int) {
      name = journal.head.run ?? String(decoding: journal.path.name.bytes, as: UTF8.self)
      self.lines = lines
      file = journal.path.name.bytes
    }
  }

  /// The doubts, and when somebody looked at them, in nanoseconds since 1970.
  private var doubts: [Doubt: Int64] = [:]
  /// How many lines that can't be read somebody has looked at, by the names of their journals.
  private var damaged: [String: Int] = [:]
  /// How many bytes of the files were read, by their names.
  private(set) var sizes: [[UInt8]: Int64] = [:]

  private static let prefix = "settled-"
  private static let suffix = ".jsonl"
  private static let schema = "formstream.settled/1"
  private static let damagedSchema = "formstream.lost/1"

  /// Reads the files in directories of journals.
  ///
  /// - Parameter journals: the journals in these directories. What they say after somebody had looked at a file is a new doubt.
  /// - Throws: `journalUnreadable`.
  init(in directories: [LocalPath], _ journals: JournalSet) throws(BatchError) {
    for directory in directories {
      for name in try JournalReader.names(in: directory) where Self.isOurs(name) {
        try read(directory.appending(name.bytes), besides: journals.state.flatMap { $0.directory == directory ? $0 : nil })
      }
    }
    for manifest in Set(doubts.keys.map(\.manifest)) { try removeOlder(journals, about: manifest) }
  }

  /// Removes doubts that are older than what a journal says about the file. The lines have no times, so all lines of a journal
  /// count that was written to since.
  private mutating func removeOlder(_ journals: JournalSet, about manifest: String) throws(BatchError) {
    let settled = doubts.filter { $0.key.manifest == manifest }
    guard let first = settled.values.min() else { return }
    for journal in try journals.paths(ofManifest: manifest, writtenSince: first) {
      var mentioned: Set<Int64> = []
      try JournalReader.read(journal.path) { line in
        switch line {
        case .started(let offset), .record(let offset, _), .storedPerhaps(let offset): mentioned.insert(offset)
        case .head, .accepted, .closed, .damaged, .unfinished: break
        }
      }
      for (doubt, time) in settled where mentioned.contains(doubt.offset) && time <= journal.time {
        doubts[doubt] = nil
      }
    }
  }

  static func isOurs(_ name: FileName) -> Bool {
    name.bytes.starts(with: prefix.utf8) && name.bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }

  /// Reads a file. A line that can't be read settles nothing.
  ///
  /// - Parameter state: has what the lines that it has seen say about the manifests that it sums up, unless a journal has said
  ///   something else later; nil if there is none.
  private mutating func read(_ path: LocalPath, besides state: RecordedState?) throws(BatchError) {
    guard let file = try JournalReader.open(path) else { return }
    let seen = state?.settled[path.name.bytes] ?? 0
    var lines = LineReader(file, from: 0, maximumLine: ManifestReader.maximumLine)
    do throws(LineReader.Failure) {
      while let line = try lines.next() {
        if line.isComplete { sizes[path.name.bytes] = lines.position }
        guard let value = try? JSONValue(parsing: line.bytes) else { continue }
        if value["schema"]?.text == Self.damagedSchema, let name = value["journal"]?.text, let lines = value["lines"]?.integer {
          damaged[name] = max(damaged[name] ?? 0, Int(clamping: lines))
        }
        guard value["schema"]?.text == Self.schema, let manifest = value["manifest"]?.text,
          let offset = value["offset"]?.integer, line.offset >= seen || state?.sumsUp(manifest: manifest) != true
        else { continue }
        let doubt = Doubt(manifest: manifest, offset: offset, isDuplicate: value["duplicate"] == true)
        doubts[doubt] = max(doubts[doubt] ?? .min, value["time_ns"]?.integer ?? .min)
      }
    } catch {
      if case .system(let error) = error { throw JournalReader.unreadable(path, error) }
    }
  }

  /// Notes what a state says about a file.
  mutating func note(_ entry: StateEntry) {
    guard let isDuplicate = entry.settled else { return }
    let doubt = Doubt(manifest: entry.manifest, offset: entry.file.offset, isDuplicate: isDuplicate)
    doubts[doubt] = doubts[doubt] ?? .min
  }

  /// What somebody has looked at: `true` if a file was certainly accepted twice, `false` if it may have been; nil if nobody has.
  func settled(_ manifest: String, _ offset: Int64) -> Bool? {
    [true, false].first { doubts[Doubt(manifest: manifest, offset: offset, isDuplicate: $0)] != nil }
  }

  /// Whether a doubt was looked at. A file that was accepted twice after somebody had looked at a mere doubt is not settled.
  func settles(_ doubt: Doubt) -> Bool {
    doubts[doubt] != nil
      || !doubt.isDuplicate
        && doubts[Doubt(manifest: doubt.manifest, offset: doubt.offset, isDuplicate: true)] != nil
  }

  /// Whether somebody has looked at all lines of a journal that can't be read.
  func settles(_ journal: DamagedJournal) -> Bool { journal.lines <= damaged[journal.name] ?? 0 }

  /// Writes down that somebody has looked at doubts and damaged journals.
  ///
  /// - Throws: `writeFailed`.
  package static func settle(
    _ doubts: [Doubt], _ damaged: [DamagedJournal], in directory: LocalPath
  ) throws(BatchError) {
    let name = FileName("\(prefix)\(UUIDText.random())\(suffix)")
    do throws(SystemError) {
      let directory = try DirectoryDescriptor(openingOrMaking: directory)
      let file = try AppendedFile(name, in: directory)
      for doubt in doubts {
        let line: JSONValue = [
          "schema": .string(schema), "manifest": .string(doubt.manifest),
          "offset": .integer(doubt.offset), "duplicate": .boolean(doubt.isDuplicate),
          "time_ns": .integer(nanosecondsSince1970()),
        ]
        try file.append(line.line())
      }
      for journal in damaged {
        let line: JSONValue = [
          "schema": .string(damagedSchema), "journal": .string(journal.name), "lines": .integer(Int64(journal.lines)),
          "time_ns": .integer(nanosecondsSince1970()),
        ]
        try file.append(line.line())
      }
      try file.synchronize()
      try file.close()
    } catch {
      throw BatchError(
        .writeFailed, on: directory.description,
        "Nothing is settled: the directory \(directory.description.quoted) can't be written to: \(error).",
        underlying: error)
    }
  }
}
