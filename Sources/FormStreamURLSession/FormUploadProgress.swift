/// The progress of an upload, in bytes of the body. The framing and the headers of the request are
/// not counted.
public struct FormUploadProgress: Sendable, Hashable {
  /// The number of bytes that the session has read. On Linux, bytes are counted when libcurl receives them, so some may
  /// not be sent yet.
  public let bytesSent: Int64
  /// The length of the body; nil if it is not known.
  public let bytesTotal: Int64?

  /// Creates a progress value.
  public init(bytesSent: Int64, bytesTotal: Int64?) {
    self.bytesSent = bytesSent
    self.bytesTotal = bytesTotal
  }
}
