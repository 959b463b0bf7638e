import FormStreamMultipart
import FormStreamPlatform

/// Copies of lists of failed files beside the journals of the runs that sent them. The list itself may be replaced by the next one,
/// and without the list, its journal can't be read.
enum SentFailedList {
  private static let prefix = "failed-"
  private static let suffix = ".jsonl"

  /// Whether a file of that name is such a copy.
  static func isCopy(_ name: FileName) -> Bool {
    guard let text = String(validating: name.bytes, as: UTF8.self), text.hasPrefix(prefix), text.hasSuffix(suffix) else {
      return false
    }
    return isUUID(String(text.dropFirst(prefix.count).dropLast(suffix.count)))
  }

  /// The paths of the copies in a directory.
  ///
  /// - Throws: `journalUnreadable`.
  static func copies(in path: LocalPath) throws(BatchError) -> [LocalPath] {
    try JournalReader.names(in: path).filter(isCopy).map { path.appending($0.bytes) }
  }

  /// Copies a list, unless it was copied before.
  ///
  /// - Throws: `journalUnusable`.
  static func keep(_ list: ManifestReader, in directory: DirectoryDescriptor) throws(BatchError) {
    let name = FileName("\(prefix)\(list.id)\(suffix)")
    do throws(SystemError) {
      guard try directory.identity(of: name) == nil, let source = try RandomAccessFile(reading: list.path) else { return }
      let copy = try AtomicFile(in: directory, permissions: 0o666)
      var offset: Int64 = 0
      while case let piece = try source.read(256 * 1024, at: offset), !piece.isEmpty {
        var failure: SystemError?
        piece.withUnsafeBytes { bytes in
          do throws(SystemError) { try copy.write(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
        offset += Int64(piece.count)
      }
      try copy.synchronize()
      try copy.close()
      _ = try copy.commit(as: name, ifTaken: .refuse)
    } catch {
      throw BatchError(
        .journalUnusable, on: list.path.description,
        "The list \(list.path.description.quoted) can't be copied beside its journal, which needs it: \(error). Nothing was sent.",
        underlying: error)
    }
  }
}
