package import FormStreamMultipart

/// Sorts the records of a manifest by the bytes of their paths, in bounded memory.
package final class ManifestSorter {
  private let sorter: ExternalSorter

  /// - Parameter directory: the directory for temporary files with the records that don't fit into memory.
  package init(in directory: LocalPath) {
    sorter = ExternalSorter(in: directory)
  }

  /// Adds a file's record.
  package func add(_ file: BatchFile) throws(BatchError) {
    try sorter.add(ManifestEncoder.line(for: file), key: file.manifestPath.bytes)
  }

  /// Passes each record to `use`, in order. If the records can't be sorted, returns the error; otherwise nil.
  package func finish<Failure: Error>(
    _ use: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) -> BatchError? {
    try sorter.finish(use)
  }
}
