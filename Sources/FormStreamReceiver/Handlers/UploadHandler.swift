public import FormStreamIntake

/// Decides what happens to uploads. ``DirectoryHandler`` stores them, ``DiscardHandler`` only counts them.
///
/// A receiver calls its handler from many threads at once, one for each connection, each with a stack of half a
/// megabyte. A call may block: only that client waits. But every call must return eventually, because stopping the
/// receiver waits for it.
public protocol UploadHandler: Sendable {
  /// Accepts an upload. None of its body has been read yet.
  ///
  /// - Throws: ``UploadRefusal`` to choose the response; any other error is answered with status 500.
  func begin(_ request: UploadRequest) throws -> any Upload
  /// Whether the handler obeys ``UploadRequest/mustBeNew``. If not, which is the default, such requests
  /// are refused with status 501.
  var supportsIfNoneMatch: Bool { get }
}

extension UploadHandler {
  /// False: uploads that must be new are refused.
  public var supportsIfNoneMatch: Bool { false }
}
