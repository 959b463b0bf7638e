public import FormStreamMultipart

/// The files of a batch, one after another. One thread uses it.
public protocol BatchInput: AnyObject {
  /// The directory that a relative ``BatchFile/manifestPath`` is below; nil for the current directory.
  var root: LocalPath? { get }
  /// Whether all files are different files below ``root``, so that no two have the same path below ``root``.
  var hasOneRoot: Bool { get }
  /// How many entries were found and left out so far.
  var leftOut: LeftOutEntries { get }
  /// The next file; nil after the last.
  func next() throws(BatchError) -> BatchFile?
}
