package import FormStreamMultipart

/// The headers after a chunked body (RFC 9112 §7.1.2). They are never merged with the headers of the head.
package struct Trailers: Sendable {
  /// The trailers as they arrived, with the empty line at their end.
  package let bytes: [UInt8]
  let lines: [HeaderLine]

  /// The headers in their order.
  package var headers: HTTPHeaders { HTTPHeaders(lines, of: bytes) }
}
