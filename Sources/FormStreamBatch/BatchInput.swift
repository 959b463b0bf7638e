public import FormStreamMultipart

/// The files of a batch, one after another. Use it from one thread at a time.
public protocol BatchInput: AnyObject {
  /// The directory to which a relative ``BatchFile/manifestPath`` refers; nil for the current directory.
  var root: LocalPath? { get }
  /// Whether all files are different files below ``root``, so that no two files have the same path below ``root``.
  var hasOneRoot: Bool { get }
  /// How many entries were found and left out so far.
  var leftOut: LeftOutEntries { get }
  /// The next file; nil after the last.
  func next() throws(BatchError) -> BatchFile?
}
