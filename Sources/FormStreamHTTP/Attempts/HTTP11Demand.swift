/// Whether the settings allow HTTP/1.1, after a server has ended a request over HTTP/2 with HTTP_1_1_REQUIRED.
package enum HTTP11Demand: Sendable {
  /// The request may be sent with HTTP/1.1.
  case allowed
  /// The settings insist on HTTP/2.
  case forbidden
}
