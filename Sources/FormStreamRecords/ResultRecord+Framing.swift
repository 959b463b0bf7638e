extension ResultRecord {
  /// How the receiver was told where the request's body ends.
  package enum Framing: String, CaseIterable, Sendable {
    /// By its length, ahead of it.
    case contentLength = "content-length"
    /// By chunks, the last one empty: HTTP/1.1, and a body of unknown length.
    case chunked
    /// By the frames of HTTP/2.
    case h2
    /// There is no body. Not called `none`: that would be mistaken for an optional's.
    case noBody = "none"
  }
}
