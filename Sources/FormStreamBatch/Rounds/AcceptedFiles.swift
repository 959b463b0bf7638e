import FormStreamMultipart
import FormStreamPlatform

/// The files of a listing that earlier rounds have delivered, in the order in which they were added. They are on the disk, so
/// memory does not grow with their number.
package final class AcceptedFiles {
  private let sorter: ExternalSorter
  private var count: Int64 = 0
  private var lines: SortedLines?

  /// - Parameter directory: the directory for temporary files.
  init(in directory: LocalPath) {
    sorter = ExternalSorter(in: directory, memory: 16 * 1024 * 1024)
  }

  func add(_ file: BatchFile) throws(BatchError) {
    // The bytes of numbers sort like the numbers if the most significant byte comes first.
    try sorter.add(StoredFile.bytes(of: file), key: withUnsafeBytes(of: count.bigEndian, Array.init))
    count += 1
  }

  /// The next file; nil after the last. No file can be added after this call.
  func next() throws(BatchError) -> BatchFile? {
    if lines == nil { lines = try sorter.sorted() }
    return try lines?.next().map { StoredFile.file($0.line) }
  }
}
