/// A server has ended a request of HTTP/2 with HTTP_1_1_REQUIRED. The settings allow HTTP/1.1, or forbid it.
package enum HTTP11Demand: Sendable {
  /// The request may be sent with HTTP/1.1.
  case allowed
  /// The settings insist on HTTP/2.
  case forbidden
}
