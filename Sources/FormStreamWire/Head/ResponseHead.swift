package import FormStreamMultipart

/// The head of a response. It keeps the bytes that arrived; texts and headers are made from them when they are asked for.
package struct ResponseHead: Sendable {
  /// The head as it arrived, with the empty line at its end.
  package let bytes: [UInt8]
  let statusLine: StatusLine
  let lines: [HeaderLine]

  /// The status, from 100 to 999.
  package var status: Int { statusLine.status }
  /// The version of HTTP is 1 and this number.
  package var minorVersion: Int { statusLine.minorVersion }
  /// Whether this is an interim response (RFC 9110 §15.2).
  package var isInterim: Bool { status < 200 }
  /// The bytes of the reason; they may be no UTF-8.
  package var reason: [UInt8] { Array(bytes[statusLine.reason]) }

  /// The headers in their order.
  package var headers: HTTPHeaders { HTTPHeaders(lines, of: bytes) }
}
