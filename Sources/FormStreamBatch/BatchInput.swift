public import FormStreamMultipart

/// The files of a batch, one after another. One thread uses it.
public protocol BatchInput: AnyObject {
  /// The directory that the relative ones of the files' ``BatchFile/manifestPath`` are below; nil for the current one.
  var root: LocalPath? { get }
  /// Whether the files are different ones below ``root``, so that no two have the same path below it.
  var hasOneRoot: Bool { get }
  /// What was found and not listed so far.
  var leftOut: LeftOutEntries { get }
  /// The next file; nil after the last.
  func next() throws(BatchError) -> BatchFile?
}
