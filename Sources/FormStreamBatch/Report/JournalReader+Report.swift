import FormStreamMultipart
import FormStreamPlatform
import FormStreamRecords

/// What only a report asks of a journal. Records are searched and not parsed: there may be ten million. In a JSON string
/// each quotation mark has a backslash before it, so the texts that are searched for are never inside one.
extension JournalReader {
  /// The first line; nil if it is not that of a journal.
  static func head(of path: LocalPath) throws(BatchError) -> JournalHead? {
    guard let file = try open(path) else { return nil }
    var lines = LineReader(file, from: 0, maximumLine: ManifestReader.maximumLine)
    do throws(LineReader.Failure) {
      guard let line = try lines.next(), line.isComplete,
        let value = try? JSONValue(parsing: line.bytes)
      else { return nil }
      return JournalHead(value)
    } catch {
      switch error {
      case .system(let error): throw unreadable(path, error)
      case .lineTooLong: return nil
      }
    }
  }

  /// Whether the journal has its last line: its run ended in an orderly way.
  static func isClosed(_ path: LocalPath) throws(BatchError) -> Bool {
    guard let file = try open(path) else { return false }
    let last = JournalMark.closed.line()
    do throws(SystemError) {
      let size = try file.size
      guard size >= Int64(last.count) else { return false }
      return try file.read(last.count, at: size - Int64(last.count)) == last
    } catch {
      throw unreadable(path, error)
    }
  }

  private static func open(_ path: LocalPath) throws(BatchError) -> RandomAccessFile? {
    do throws(SystemError) { return try RandomAccessFile(reading: path) } catch {
      throw unreadable(path, error)
    }
  }

  /// Whether a record says that the server may have accepted the file in an earlier run.
  static func isMaybeDuplicate(_ line: [UInt8]) -> Bool {
    line.contains(Array("\"maybe_duplicate\":true".utf8))
  }

  /// Whether a record says that the file was missing or could not be read.
  static func isUnreadable(_ line: [UInt8]) -> Bool {
    let codes: [BatchError.Code] = [
      .inputMissing, .inputUnreadable, .notAFile, .outsideRoot, .linkLoop, .nestedTooDeep,
    ]
    return codes.contains { line.contains(Array("\"error\":{\"code\":\"\($0.rawValue)\"".utf8)) }
  }
}
