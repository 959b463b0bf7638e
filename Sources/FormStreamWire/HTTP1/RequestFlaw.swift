/// Why a request can't be written. All of these are faults of the caller, and nothing was written.
package enum RequestFlaw: Error, Hashable, Sendable {
  /// The method isn't a token.
  case method(String)
  /// The target is empty, or has a control character, a space or a `#`.
  case target(String)
  /// The name of a header isn't a token.
  case headerName(String)
  /// The value of the header of this name has a CR, an LF or a NUL.
  case headerValue(String)
  /// A header that is derived from the body: `Content-Length` or `Transfer-Encoding`.
  case framingHeader(String)
  /// The request has this many `Host`s, and not one.
  case hosts(Int)
  /// The request waits for 100, and has no body.
  case expectWithoutBody
  /// The body's length is negative.
  case length(Int64)
  /// The body has this many bytes more than its length, or after its end.
  case bodyTooLong(by: Int64)
  /// The body ends, and this many bytes of its length are missing.
  case bodyTooShort(by: Int64)
  /// A body that isn't chunked has no trailers.
  case trailersWithoutChunks
  /// The header of this name changes how a request is read, and can't be a trailer.
  case forbiddenTrailer(String)
  /// The body was abandoned: nothing follows it.
  case bodyAbandoned
  /// The response couldn't be read. Nothing more of the request is sent.
  case responseFailed
  /// The connection can't be used for another request.
  case connectionUsed
}
