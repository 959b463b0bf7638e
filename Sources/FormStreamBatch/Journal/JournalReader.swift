package import FormStreamHTTP
package import FormStreamMultipart
package import FormStreamPlatform
import FormStreamJSON

/// A line of a journal.
package enum JournalLine {
  case head(JournalHead)
  /// A request begins for a file. The value is the offset in the manifest at which the file's record begins.
  case started(Int64)
  /// The server has accepted the first slices of the file whose record begins at `offset` in the manifest.
  case accepted(offset: Int64, AcceptedSlices)
  /// The server keeps what has arrived of the file whose record begins at `offset` in the manifest. Nil if the upload can't be
  /// continued any more.
  case unfinished(offset: Int64, UploadResumeData?)
  /// What became of the file whose record begins at `offset` in the manifest.
  case record(offset: Int64, JournalRecord)
  /// The server may have the file, although the record before says that it may be sent again. The value is the offset in the manifest
  /// at which the file's record begins.
  case storedPerhaps(Int64)
  case closed
  /// The line is none of the above, because the disk lost something.
  case damaged
}

/// Reads journals.
package enum JournalReader {
  /// The paths of the journals in a directory, in the order of their names.
  ///
  /// - Throws: `journalUnreadable`.
  package static func journals(in path: LocalPath) throws(BatchError) -> [LocalPath] {
    try names(in: path).filter(JournalWriter.isJournal).map { path.appending($0.bytes) }
      .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
  }

  /// Whether a file of that name in a directory of journals says what was sent, or would be read as if it did.
  package static func isRecord(_ name: FileName) -> Bool {
    JournalWriter.isJournal(name) || RecordedRounds.isManifest(name) || SettledDoubts.isOurs(name)
      || SentFailedList.isCopy(name) || name == RecordedState.name
  }

  /// The paths of the files in a directory that say what was sent.
  ///
  /// - Throws: `journalUnreadable`.
  package static func records(in path: LocalPath) throws(BatchError) -> [LocalPath] {
    try names(in: path).filter(isRecord).map { path.appending($0.bytes) }
  }

  /// The names in a directory of journals.
  static func names(in path: LocalPath) throws(BatchError) -> [FileName] {
    do throws(SystemError) {
      let directory = try DirectoryStream(path)
      var names: [FileName] = []
      while let entry = try directory.next() { names.append(entry.name) }
      return names
    } catch {
      throw unlistable(path, error)
    }
  }

  /// Passes each line of a journal to `receive`, in order. The last line is left out if it is torn.
  ///
  /// - Parameter inspect: receives who can change the journal that is read.
  /// - Throws: `journalUnreadable`, and any error that `receive` throws.
  package static func read(
    _ path: LocalPath, inspect: (AppendedFile.Ownership) -> Void = { _ in },
    _ receive: (JournalLine) throws(BatchError) -> Void
  ) throws(BatchError) {
    try forEachLine(of: path, inspect: inspect) { line throws(BatchError) in try receive(parsed(line)) }
  }

  /// Passes the text of each line to `receive`, as `read` does.
  static func forEachLine(
    of path: LocalPath, inspect: (AppendedFile.Ownership) -> Void = { _ in },
    _ receive: (UnsafeRawBufferPointer) throws(BatchError) -> Void
  ) throws(BatchError) {
    let source: DescriptorSource
    do throws(SystemError) {
      source = try DescriptorSource(opening: path)
      if let status = try source.status() { inspect(status.ownership) }
    } catch {
      throw unreadable(path, error)
    }
    defer { source.close() }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
    defer { buffer.deallocate() }
    var torn: [UInt8] = []
    while true {
      let count: Int
      do { count = try source.read(into: buffer) } catch { throw unreadable(path, error) }
      if count == 0 { return }
      let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      var start = 0
      while let end = piece.firstIndex(of: UInt8(ascii: "\n"), from: start) {
        let rest = UnsafeRawBufferPointer(rebasing: piece[start..<end])
        start = end + 1
        if torn.isEmpty {
          try receive(rest)
        } else {
          let line = torn + rest
          torn = []
          try line.withUnsafeBufferPointer { line throws(BatchError) in try receive(UnsafeRawBufferPointer(line)) }
        }
      }
      torn += piece[start...]
      guard torn.count <= maximumLine else {
        throw BatchError(
          .journalMalformed, on: path.description,
          "The journal \(path.description.quoted) has a line of more than \(maximumLine) bytes: it is none."
        )
      }
    }
  }

  /// A limit that no valid line reaches. A line repeats the manifest's record of a file, and some parts of the record
  /// several times. Escaping may turn one byte into six. Up to 4 KiB of a response are added.
  static let maximumLine = 16 * ManifestReader.maximumLine

  private static func parsed(_ line: UnsafeRawBufferPointer) -> JournalLine {
    if let (offset, record) = JournalRecord.read(line) { return .record(offset: offset, record) }
    if let offset = startedOffset(line) { return .started(offset) }
    guard let value = try? JSONValue(parsing: Array(line)) else { return .damaged }
    if let head = JournalHead(value) { return .head(head) }
    switch value["schema"]?.text {
    case JournalMark.slicesSchema:
      guard let offset = value["offset"]?.integer, offset >= 0,
        let bytes = value["accepted"]?.integer, bytes >= 0,
        let changed = value["ctime_ns"]?.integer
      else { return .damaged }
      return .accepted(offset: offset, AcceptedSlices(bytes: bytes, changed: changed))
    case JournalMark.storedPerhapsSchema:
      guard let offset = value["offset"]?.integer, offset >= 0 else { return .damaged }
      return .storedPerhaps(offset)
    case JournalMark.unfinishedSchema:
      guard let offset = value["offset"]?.integer, offset >= 0, let upload = value["upload"] else {
        return .damaged
      }
      return .unfinished(offset: offset, UploadResumeData(upload))
    case JournalMark.closedSchema: return .closed
    default: return .damaged
    }
  }

  /// The offset in a line that says that a request begins; nil if the line is another one.
  private static func startedOffset(_ line: UnsafeRawBufferPointer) -> Int64? {
    var members = JSONMembers(of: line)
    guard members.next()?.hasText(JournalMark.startedSchema, for: "schema") == true,
      let member = members.next(), member.key.spells("offset"), members.next() == nil,
      members.isComplete, let offset = member.number, offset >= 0
    else { return nil }
    return offset
  }

  /// The error for a directory of journals that can't be listed.
  private static func unlistable(_ path: LocalPath, _ error: SystemError) -> BatchError {
    let shown = path.description.quoted
    let sentence =
      if error == .notADirectory {
        "The path \(shown) is not a directory: name the one that holds the journals."
      } else if error.isPathMissing {
        "The directory \(shown) does not exist."
      } else {
        "The directory \(shown) can't be read: \(error). Without its journals, what was sent is not known."
      }
    return BatchError(
      .journalUnreadable, on: path.description, "\(sentence)", underlying: error)
  }

  static func unreadable(_ path: LocalPath, _ error: any Error) -> BatchError {
    BatchError(
      .journalUnreadable, on: path.description,
      "The journal \(path.description.quoted) can't be read: \(error). Without it, what was sent is not known.",
      underlying: error as? SystemError)
  }
}
