/// How a request is sent again at once, if the server has not processed it, or if it only reads.
package enum ImmediateRepeat: Sendable {
  /// Over a new connection, because the kept connection was closed or can't be used.
  case onNewConnection
  /// Over a new connection, because the kept connection was lost while a request was sent that only reads. Unlike the others, the lost
  /// request counts as an attempt: the server may have seen it.
  case afterLoss
  /// With HTTP/2, because the server refuses HTTP/1.1.
  case overHTTP2
}
