public import FormStreamIntake

/// Accepts every upload, but stores nothing. The record still contains sizes and digests.
public struct DiscardHandler: UploadHandler {
  /// Creates a handler that keeps nothing.
  public init() {}

  /// True: nothing is stored, so every upload is new.
  public var supportsIfNoneMatch: Bool { true }

  /// Accepts every request.
  public func begin(_ request: UploadRequest) -> any Upload { DiscardedUpload() }
}
