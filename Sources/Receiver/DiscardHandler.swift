/// Takes everything and keeps nothing: the record has what was counted.
public struct DiscardHandler: UploadHandler {
  /// A handler that keeps nothing.
  public init() {}

  /// Takes any request.
  public func begin(_ request: UploadRequest) -> any Upload { Nowhere() }
}

private final class Nowhere: Upload, PartSink {
  let storedAs: String? = nil

  func begin(_ part: PartDescription) -> any PartSink { self }
  func take(_ bytes: UnsafeRawBufferPointer) {}
  func end() {}
}
