import FormStreamMultipart
import FormStreamPlatform

/// Writes heads of requests and trailers: values in, bytes out.
///
/// Everything is checked before it is written. A writer that fails leaves the output as it was.
enum HeadWriter {
  /// Appends a head.
  static func append(_ head: RequestHead, to output: inout [UInt8]) throws(RequestFlaw) {
    let start = output.count
    do {
      try appendChecked(head, to: &output)
    } catch {
      output.removeLast(output.count - start)
      throw error
    }
  }

  private static func appendChecked(
    _ head: RequestHead, to output: inout [UInt8]
  ) throws(RequestFlaw) {
    // RFC 9112 §3: request-line = method SP request-target SP HTTP-version
    guard HTTPSyntax.isToken(head.method.utf8) else { throw .method(head.method) }
    // RFC 9112 §3.2: "No whitespace is allowed in the request-target."
    guard !head.target.isEmpty, head.target.utf8.allSatisfy({ $0 > .space && $0 != 0x7F }) else {
      throw .target(head.target)
    }
    output += head.method.utf8
    output.append(.space)
    output += head.target.utf8
    output.append(" HTTP/1.1\r\n")
    for (index, field) in head.headers.fields.enumerated() {
      if index == head.framingIndex { try append(head.framing, to: &output) }
      if let header = FramingHeader(named: field.name) { throw .framingHeader(header.name) }
      try append(field, to: &output)
    }
    if head.framingIndex >= head.headers.count { try append(head.framing, to: &output) }
    output.append("\r\n")
  }

  /// Appends a header line.
  ///
  /// RFC 9110 §5.5: "Field values containing CR, LF, or NUL characters are invalid and dangerous".
  static func append(_ field: HTTPHeaders.Field, to output: inout [UInt8]) throws(RequestFlaw) {
    guard HTTPSyntax.isToken(field.name.utf8) else { throw .headerName(field.name) }
    guard field.bytes.withUnsafeBytes({ $0.firstLineBreakOrNUL(from: 0) }) == field.bytes.count else {
      throw .headerValue(field.name)
    }
    output += field.name.utf8
    output.append(": ")
    output += field.bytes
    output.append("\r\n")
  }

  /// RFC 9112 §6.2: "A sender MUST NOT send a Content-Length header field in any message that contains a Transfer-Encoding header
  /// field."
  private static func append(
    _ framing: RequestHead.Framing, to output: inout [UInt8]
  ) throws(RequestFlaw) {
    switch framing {
    case .none: return
    case .chunked: output.append("Transfer-Encoding: chunked\r\n")
    case .length(let length):
      guard length >= 0 else { throw .length(length) }
      output.append("Content-Length: ")
      output.append(length, radix: 10)
      output.append("\r\n")
    }
  }
}

extension [UInt8] {
  mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { append(contentsOf: $0) }
  }

  /// Appends the digits of a number that isn't negative.
  mutating func append(_ number: Int64, radix: Int64) {
    var place: Int64 = 1
    while number / place >= radix { place *= radix }
    while place > 0 {
      append(Hexadecimal.digit(number / place % radix))
      place /= radix
    }
  }
}

extension FramingHeader {
  fileprivate init?(named name: String) {
    // Names are ASCII here, or not tokens. Only names of these lengths are looked at.
    guard [14, 17].contains(name.utf8.count) else { return nil }
    let header = Array(name.utf8).withUnsafeBytes { FramingHeader($0) }
    guard let header else { return nil }
    self = header
  }
}
