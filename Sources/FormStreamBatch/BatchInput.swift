/// The files of a batch, one after another. One thread uses it.
public protocol BatchInput: AnyObject {
  /// The next file; nil after the last.
  func next() throws(BatchError) -> BatchFile?
}
