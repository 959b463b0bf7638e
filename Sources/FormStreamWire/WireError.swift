/// Why a response can't be read. After such an error, nothing more of the response is delivered, and the connection can't be
/// used again.
package enum WireError: Error, Hashable, Sendable {
  // MARK: Heads

  /// The response doesn't begin with `HTTP/`. The value is its beginning, up to the first byte that is another.
  case notHTTP([UInt8])
  /// The first line isn't a status line of HTTP/1. The value is the beginning of the line.
  case statusLine([UInt8])
  /// A line of a head isn't a header. The value is the beginning of the line.
  case notHeader([UInt8])
  /// White space stands before the first header.
  case blankBeforeHeaders
  /// A head has a NUL, or a CR that no LF follows. The offset is counted from the start of the head.
  case forbiddenByte(UInt8, offset: Int)
  /// A line of the trailers ends with an LF alone.
  case bareLF
  /// A header that says how long the body is, is continued on the next line or has white space before its colon. The value is
  /// the name of the header.
  case disguisedFraming(String)
  /// A limit was exceeded.
  case overLimit(Limit, Int)
  /// One of these errors in the trailers. Offsets are counted from their start.
  indirect case inTrailers(WireError)

  // MARK: Framing

  /// A `Content-Length` that isn't a number. The value is the beginning of the header's value.
  case contentLength([UInt8])
  /// Two `Content-Length`s that differ.
  case contentLengths(Int64, Int64)
  /// A `Transfer-Encoding` other than one `chunked` or one `identity`. The value is the beginning of the last such header's
  /// value.
  case transferEncoding([UInt8])
  /// The line before a chunk isn't a size. The value is the byte that can't stand there; nil if the size is larger than
  /// 2^63 - 1.
  case chunkSize(UInt8?)
  /// An extension of a chunk has a control character.
  case chunkExtension(UInt8)
  /// A chunk has other bytes than its size says: no CRLF follows them. The value is the byte in place of the CR or LF.
  case chunkEnd(UInt8)

  // MARK: The exchange

  /// Bytes came from the server before a byte of the request was sent.
  case unasked
  /// The server changed to a protocol that the request doesn't ask for (101).
  case switchedProtocols
  /// The connection ended at this place.
  case cutOff(Place)

  /// What a limit is for.
  package enum Limit: Hashable, Sendable {
    /// The bytes of a line of a head, with its line break.
    case line
    /// The bytes of a head.
    case head
    /// The headers of a head.
    case headers
    /// The bytes of all interim heads and trailers while no byte of the request's body moves.
    case interimBytes
    /// The interim heads while no byte of the request's body moves.
    case interimHeads
    /// The bytes of all extensions of chunks and of the trailers.
    case chunkOverhead
  }

  /// Where a response was cut off.
  package enum Place: Hashable, Sendable {
    /// Before the first byte of the final response; `afterInterim` if interim responses came.
    case beforeResponse(afterInterim: Bool)
    /// In a head; `afterInterim` if complete interim responses came before it.
    case head(afterInterim: Bool)
    /// In a body whose length is known.
    case body(received: Int64, of: Int64)
    /// In a chunked body, before its last chunk.
    case chunks(received: Int64)
    /// After the last chunk, before the end of the trailers.
    case trailers
    /// In a body that ends with the connection, which broke.
    case untilClose(received: Int64)
  }
}

extension WireError {
  /// This error of a reader of heads, said of trailers.
  var inTrailers: WireError {
    switch self {
    case .notHeader, .blankBeforeHeaders, .forbiddenByte, .disguisedFraming, .overLimit(.line, _), .overLimit(.head, _),
      .overLimit(.headers, _):
      .inTrailers(self)
    default: self
    }
  }

  /// How many bytes of a faulty line an error keeps for its message.
  static let shownBytes = 80
}
