/// Why a connection can't be used for another request. If there are several reasons, the first one is kept.
package enum ClosingReason: Hashable, Sendable {
  /// The request has `Connection: close`.
  case requested
  /// A head of the response, interim or final, has `Connection: close`.
  case serverCloses
  /// A head of the response, interim or final, is in HTTP/1.0, and doesn't have `Connection: keep-alive`.
  case oldVersion
  /// The final response began before the last byte of the request left. A server that doesn't read the rest would take it for
  /// the next request.
  case earlyResponse
  /// The request was to wait for 100, its body left without one, and the response is no success. A server that has refused the
  /// request for its head may take the body for the next request.
  case notContinued
  /// The response says in two ways how long its body is, or says so although it has none. Another program may see the body's end
  /// at another place.
  case falseFraming
  /// The body ended with the connection.
  case untilClose
  /// The connection is a tunnel now.
  case tunnel
  /// Bytes followed the response.
  case surplus
  /// The server ended the connection after the response.
  case ended
  /// The response wasn't read to its end.
  case unfinished
  /// The request's body was abandoned.
  case abandoned
  /// The caller said that more bytes were accepted than it had written. Nobody knows what left.
  case miscounted
}
