/// What the settings say to a server that ends a request of HTTP/2 with HTTP_1_1_REQUIRED.
package enum HTTP11Demand: Sendable {
  /// The request may be sent with HTTP/1.1.
  case allowed
  /// HTTP/2 was asked for.
  case forbidden
}
