import FormStreamMultipart
import FormStreamPlatform

/// The files of a listing that earlier rounds have delivered, in the order in which they were added. They are on the disk, so
/// memory does not grow with their number.
package final class AcceptedFiles {
  private let lines: NumberedLines

  /// - Parameter directory: the directory for temporary files.
  init(in directory: LocalPath) {
    lines = NumberedLines(in: directory)
  }

  func add(_ file: BatchFile) throws(BatchError) {
    try lines.add(StoredFile.bytes(of: file))
  }

  /// The next file; nil after the last. No file can be added after this call.
  func next() throws(BatchError) -> BatchFile? {
    try lines.next().map(StoredFile.file)
  }
}
