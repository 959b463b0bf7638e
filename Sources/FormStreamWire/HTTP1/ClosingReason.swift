/// Why a connection can't be used for another request.
package enum ClosingReason: Hashable, Sendable {
  /// The request has `Connection: close`.
  case requested
  /// The response has `Connection: close`.
  case serverCloses
  /// The response is in HTTP/1.0, and doesn't have `Connection: keep-alive`.
  case oldVersion
  /// The final response began before the last byte of the request left. A server that doesn't read the rest would take it for
  /// the next request.
  case earlyResponse
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
}
