package import FormStreamMultipart
import FormStreamPlatform
import FormStreamJSON

/// A line of a journal.
package enum JournalLine {
  case head(JournalHead)
  /// A request begins for a file. The value is the offset in the manifest at which the file's record begins.
  case started(Int64)
  /// The server has accepted the first slices of the file whose record begins at `offset` in the manifest.
  case accepted(offset: Int64, AcceptedSlices)
  /// What became of the file whose record begins at `offset` in the manifest. The line is a `formstream.record/1`.
  case record(offset: Int64, outcome: String, line: [UInt8])
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
    do throws(SystemError) {
      let directory = try DirectoryStream(path)
      var journals: [LocalPath] = []
      while let entry = try directory.next() {
        if JournalWriter.isJournal(entry.name) { journals.append(path.appending(entry.name.bytes)) }
      }
      return journals.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    } catch {
      throw unlistable(path, error)
    }
  }

  /// Passes each line of a journal to `receive`, in order. The last line is left out if it is torn.
  ///
  /// - Throws: `journalUnreadable`, and any error that `receive` throws.
  package static func read(
    _ path: LocalPath, _ receive: (JournalLine) throws(BatchError) -> Void
  ) throws(BatchError) {
    let source: DescriptorSource
    do throws(SystemError) { source = try DescriptorSource(opening: path) } catch {
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
      var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = torn + rest[..<end]
        torn = []
        rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        try receive(parsed(line))
      }
      torn += rest
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
  private static let maximumLine = 16 * ManifestReader.maximumLine

  private static func parsed(_ line: [UInt8]) -> JournalLine {
    if let (offset, outcome) = record(line) {
      return .record(offset: offset, outcome: outcome, line: line)
    }
    guard let value = try? JSONValue(parsing: line) else { return .damaged }
    if let head = JournalHead(value) { return .head(head) }
    switch value["schema"]?.text {
    case JournalMark.startedSchema:
      guard let offset = value["offset"]?.integer, offset >= 0 else { return .damaged }
      return .started(offset)
    case JournalMark.slicesSchema:
      guard let offset = value["offset"]?.integer, offset >= 0,
        let bytes = value["accepted"]?.integer, bytes >= 0,
        let changed = value["ctime_ns"]?.integer
      else { return .damaged }
      return .accepted(offset: offset, AcceptedSlices(bytes: bytes, changed: changed))
    case JournalMark.closedSchema: return .closed
    default: return .damaged
    }
  }

  /// The offset and outcome of a record, without parsing all of it: a journal may have ten million records. In a JSON
  /// string, each quotation mark has a backslash before it, so the keys that are searched for are never inside a string.
  private static func record(_ line: [UInt8]) -> (offset: Int64, outcome: String)? {
    guard line.starts(with: recordStart), line.last == UInt8(ascii: "}") else { return nil }
    return line.withUnsafeBytes { bytes in
      // A damaged disk can join the beginning of one line to the end of another line. The joined line would have the offset
      // of one file and the outcome of another file.
      let rest = UnsafeRawBufferPointer(rebasing: bytes[recordStart.count...])
      guard !bytes.contains(where: { $0 < 0x20 }),
        text(after: "\"schema\":", in: rest, upTo: ",") == nil
      else { return nil }
      guard let offset = text(after: "\"offset\":", in: bytes, upTo: ","),
        let outcome = text(after: "\"outcome\":\"", in: bytes, upTo: "\""),
        let number = Int64(offset), number >= 0
      else { return nil }
      return (number, outcome)
    }
  }

  /// Whether a record says that the server did not confirm the file.
  static func isMismatch(_ line: [UInt8]) -> Bool {
    line.contains(Array("\"error\":{\"code\":\"digest-mismatch\"".utf8))
  }

  private static let recordStart = Array("{\"schema\":\"\(FileResult.schema)\",".utf8)

  private static func text(
    after key: StaticString, in bytes: UnsafeRawBufferPointer, upTo end: Unicode.Scalar
  ) -> String? {
    let key = UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
    guard let first = key.first else { return nil }
    var rest = bytes[...]
    while let index = rest.firstIndex(of: first) {
      rest = rest[index...]
      if rest.starts(with: key) {
        let value = rest.dropFirst(key.count).prefix { $0 != UInt8(ascii: end) }
        return String(decoding: value, as: UTF8.self)
      }
      rest = rest.dropFirst()
    }
    return nil
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
