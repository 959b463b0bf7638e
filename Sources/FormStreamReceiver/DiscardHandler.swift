public import FormStreamIntake

/// Takes everything and keeps nothing: the record has what was counted.
public struct DiscardHandler: UploadHandler {
  /// A handler that keeps nothing.
  public init() {}

  /// Takes any request.
  public func begin(_ request: UploadRequest) -> any Upload { DiscardedUpload() }
}
