/// How much of a request has left, as far as that decides whether it may be sent again.
package enum RequestStage: Hashable, Sendable {
  /// No byte of the head left; or the head announces a body that isn't empty, and no byte of the body left. The size of a chunk is no
  /// byte of the body. The server can't act on the request.
  case notSent
  /// A part left. The server can't have the complete request.
  case partlySent
  /// The last byte left. Of a chunked body, the first byte of the last chunk: some servers act as soon as they see its `0`.
  case sent
}
