/// How much of an attempt's request was sent.
package enum AttemptStage: Sendable {
  /// No byte was sent: the server can't have seen the request.
  case notSent
  /// A part was sent: the server can't have the complete request.
  case partlySent
  /// The complete request was sent, or the server may have acted on a part of it.
  case sent
}
