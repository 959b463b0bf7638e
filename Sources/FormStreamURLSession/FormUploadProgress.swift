/// How far an upload is, in bytes of the form's body: framing and headers are not counted.
public struct FormUploadProgress: Sendable, Hashable {
  /// How many bytes the session has taken. On Linux it counts them when libcurl gets them, so some of
  /// them may still wait to leave.
  public let bytesSent: Int64
  /// How many bytes the form has; nil where that can't be known.
  public let bytesTotal: Int64?

  /// Says how far an upload is.
  public init(bytesSent: Int64, bytesTotal: Int64?) {
    self.bytesSent = bytesSent
    self.bytesTotal = bytesTotal
  }
}
