/// What libcurl asks for and reports during a transfer. All methods are called on the thread that drives the transfer.
protocol CurlDelegate: AnyObject {
  /// Reads bytes of the request's body into `buffer`.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlRead
  /// Returns whether the body may be read again from `offset`.
  func mayRewind(to offset: Int64) -> Bool
  /// Receives a line of a response's head with its line break; returns false to end the transfer.
  func receive(headLine: UnsafeRawBufferPointer) -> Bool
  /// Receives a piece of a response's body.
  func receive(body: UnsafeRawBufferPointer) -> CurlReceipt
  /// Called regularly, whether or not bytes moved; returns false to end the transfer.
  func progressed(uploaded: Int64) -> Bool
  /// Called before a request is sent over a socket; returns false to end the transfer.
  func willSendRequest(over socket: CInt?) -> Bool
  /// Receives the head of a request that was sent.
  func sent(head: UnsafeRawBufferPointer)
  /// Receives a line of libcurl's verbose output.
  func noted(_ text: UnsafeRawBufferPointer)
  /// Called when a TLS record arrives, with the type in its header of five bytes (RFC 8446 §5.1), or with its inner
  /// type, one byte (§5.2).
  func received(recordType type: UInt8, isInner: Bool)
  /// Called when the other side of an encrypted connection asks for a certificate (RFC 8446 §4.3.2).
  func receivedCertificateRequest()
  /// Called when the other side of an encrypted connection sends an alert (RFC 8446 §6).
  func received(alert: UInt8)
}

/// The result of reading from a request's body.
enum CurlRead {
  case bytes(Int)
  /// No bytes yet; the delegate calls `resumeReading` when there are some.
  case later
  case abort
}

/// What became of a piece of a response's body.
enum CurlReceipt {
  case taken
  /// Nothing was taken. libcurl passes the piece again after the delegate has called `resumeReceiving`.
  case later
  case abort
}
