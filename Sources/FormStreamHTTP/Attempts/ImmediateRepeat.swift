/// How a request is sent again at once, if the server has not processed it.
package enum ImmediateRepeat: Sendable {
  /// Over a new connection, because the kept connection was closed or can't be used.
  case onNewConnection
  /// With HTTP/2, because the server refuses HTTP/1.1.
  case overHTTP2
}
