import FormStreamMultipart
import FormStreamPlatform
import FormStreamJSON

/// Reads the first and the last line of a journal, without the others.
extension JournalReader {
  /// The first line; nil if the run ended before the line was written, and so before the run sent anything.
  ///
  /// If the line can't be read, the head is reconstructed as far as that is possible.
  ///
  /// - Throws: `journalUnreadable`; `journalMalformed` if it is not known what run the file is of.
  static func head(of path: LocalPath) throws(BatchError) -> JournalHead? {
    guard let file = try open(path) else { return nil }
    // Each run reads the first lines of all shards' journals, so it reads only a small piece of each journal.
    var lines = LineReader(
      file, from: 0, maximumLine: ManifestReader.maximumLine, pieceSize: 4096)
    do throws(LineReader.Failure) {
      guard let line = try lines.next(), line.isComplete else { return nil }
      if let value = try? JSONValue(parsing: line.bytes), let head = JournalHead(value) {
        return head
      }
    } catch {
      if case .system(let error) = error { throw unreadable(path, error) }
    }
    if let head = try reconstructedHead(of: path) { return head }
    throw BatchError(
      .journalMalformed, on: path.description,
      "The file \(path.description.quoted) is named like a journal and does not begin like one. If it is one, it "
        + "is not known what its run sent; if not, move it to another directory.")
  }

  /// The head of a journal whose first line the disk has lost; nil if nothing says what run it is of.
  private static func reconstructedHead(of path: LocalPath) throws(BatchError) -> JournalHead? {
    guard let name = JournalWriter.Name(path.name), let file = try open(path) else { return nil }
    var lines = LineReader(file, from: 0, maximumLine: maximumLine)
    do throws(LineReader.Failure) {
      while let line = try lines.next(), line.isComplete {
        guard line.bytes.withUnsafeBytes({ JournalRecord.read($0) }) != nil, let record = try? JSONValue(parsing: line.bytes),
          let manifest = record["manifest"]?.text, let url = record["url"]?.text
        else { continue }
        return JournalHead(named: name, manifest: manifest, url: url)
      }
    } catch {
      if case .system(let error) = error { throw unreadable(path, error) }
    }
    return nil
  }

  /// Whether a journal has no more than the first and the last line.
  static func mentionsNoFiles(_ path: LocalPath) throws(BatchError) -> Bool {
    guard let file = try open(path) else { return true }
    var lines = LineReader(file, from: 0, maximumLine: ManifestReader.maximumLine, pieceSize: 4096)
    do throws(LineReader.Failure) {
      _ = try lines.next()
      guard let second = try lines.next() else { return true }
      return [false, true].contains { second.bytes + [UInt8(ascii: "\n")] == JournalMark.closed(isComplete: $0).line() }
    } catch {
      if case .system(let error) = error { throw unreadable(path, error) }
      return false
    }
  }

  /// How a journal ends.
  enum Ending {
    /// There is no last line: the run was killed, or goes on.
    case open
    /// The run ended in an orderly way.
    case closed
    /// The run ended after it had gone through all files.
    case complete
  }

  /// Reads the last line.
  static func ending(of path: LocalPath) throws(BatchError) -> Ending {
    guard let file = try open(path) else { return .open }
    let (closed, complete) = (
      JournalMark.closed(isComplete: false).line(), JournalMark.closed(isComplete: true).line()
    )
    do throws(SystemError) {
      let size = try file.size
      let count = min(size, Int64(complete.count))
      let last = try file.read(Int(count), at: size - count)
      if last == complete { return .complete }
      return last.suffix(closed.count).elementsEqual(closed) ? .closed : .open
    } catch {
      throw unreadable(path, error)
    }
  }

  /// Whether the journal has its last line, which shows that its run ended in an orderly way.
  package static func isClosed(_ path: LocalPath) throws(BatchError) -> Bool {
    try ending(of: path) != .open
  }

  /// Whether the run of a journal may still be going on. A run locks its journal. On a file system without locks, this can't be known,
  /// and the answer is yes.
  static func isInUse(_ journal: FileName, in directory: LocalPath) -> Bool {
    guard let directory = try? DirectoryDescriptor(directory),
      let file = try? AppendedFile(existing: journal, in: directory)
    else { return true }
    return (try? file.lockSurely()) != true
  }

  static func size(of path: LocalPath) throws(BatchError) -> Int64 {
    guard let file = try open(path) else { return 0 }
    do throws(SystemError) { return try file.size } catch { throw unreadable(path, error) }
  }

  static func open(_ path: LocalPath) throws(BatchError) -> RandomAccessFile? {
    do throws(SystemError) { return try RandomAccessFile(reading: path) } catch {
      throw unreadable(path, error)
    }
  }
}
