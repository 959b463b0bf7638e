import FormStreamMultipart
import FormStreamPlatform

/// Writes heads of requests and trailers: values in, bytes out.
///
/// Everything is checked before it is written. A writer that fails leaves the output as it was.
enum HeadWriter {
  /// What the headers of a request say about its exchange.
  struct Notes {
    /// The request has `Connection: close`.
    var closes = false
    /// The request waits for 100 before its body is sent.
    var expectsContinue = false
    fileprivate var hosts = 0
  }

  /// Appends a head.
  static func append(
    _ head: RequestHead, to output: inout [UInt8]
  ) throws(RequestFlaw) -> Notes {
    let start = output.count
    do {
      return try appendChecked(head, to: &output)
    } catch {
      output.removeLast(output.count - start)
      throw error
    }
  }

  private static func appendChecked(
    _ head: RequestHead, to output: inout [UInt8]
  ) throws(RequestFlaw) -> Notes {
    // RFC 9112 §3: request-line = method SP request-target SP HTTP-version
    guard HTTPSyntax.isToken(head.method.utf8) else { throw .method(head.method) }
    // RFC 9112 §3.2: "No whitespace is allowed in the request-target." None of its forms has a fragment.
    guard !head.target.isEmpty,
      head.target.utf8.allSatisfy({ $0 > .space && $0 != 0x7F && $0 != UInt8(ascii: "#") })
    else { throw .target(head.target) }
    output += head.method.utf8
    output.append(.space)
    output += head.target.utf8
    output.append(" HTTP/1.1\r\n")
    var notes = Notes()
    for (index, field) in head.headers.fields.enumerated() {
      if index == head.framingIndex { try append(head.framing, to: &output) }
      if let header = FramingHeader(field.name) { throw .framingHeader(header.name) }
      try append(field, to: &output)
      notes.note(field)
    }
    if head.framingIndex >= head.headers.count { try append(head.framing, to: &output) }
    output.append("\r\n")
    // RFC 9112 §3.2: "A client MUST send a Host header field in all HTTP/1.1 request messages." With two of them, each program on
    // the way may choose another one.
    guard notes.hosts == 1 else { throw .hosts(notes.hosts) }
    // RFC 9110 §10.1.1: "A client MUST NOT generate a 100-continue expectation in a request that does not include content."
    guard !notes.expectsContinue || head.hasBody else { throw .expectWithoutBody }
    return notes
  }

  /// Appends a trailer.
  ///
  /// RFC 9110 §6.5.1: trailers aren't for "message framing, routing, authentication, request modifiers, response controls, or
  /// content format". A program that merges trailers into the headers would read the message in another way.
  static func append(
    trailer field: HTTPHeaders.Field, to output: inout [UInt8]
  ) throws(RequestFlaw) {
    if FramingHeader(field.name) != nil || forbiddenTrailers.contains(where: { field.name.isSameHeaderName(as: $0) }) {
      throw .forbiddenTrailer(field.name)
    }
    try append(field, to: &output)
  }

  private static let forbiddenTrailers = [
    "Authorization", "Cache-Control", "Connection", "Content-Encoding", "Content-Range", "Content-Type", "Cookie", "Expect",
    "Host", "Keep-Alive", "Max-Forwards", "Proxy-Authorization", "Proxy-Connection", "Range", "TE", "Trailer", "Upgrade",
  ]

  /// Appends a header line.
  ///
  /// RFC 9110 §5.5: "Field values containing CR, LF, or NUL characters are invalid and dangerous".
  static func append(_ field: HTTPHeaders.Field, to output: inout [UInt8]) throws(RequestFlaw) {
    guard HTTPSyntax.isToken(field.name.utf8) else { throw .headerName(field.name) }
    guard field.bytes.withUnsafeBytes({ $0.firstLineBreakOrNUL(from: 0) }) == field.bytes.count else {
      throw .headerValue(field.name)
    }
    output += field.name.utf8
    output.append(":")
    if !field.bytes.isEmpty { output.append(.space) }
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

extension HeadWriter.Notes {
  /// Notes a header. Most names differ in their length already.
  fileprivate mutating func note(_ field: HTTPHeaders.Field) {
    switch field.name.utf8.count {
    case 4 where field.name.isSameHeaderName(as: "Host"): hosts += 1
    case 6 where field.name.isSameHeaderName(as: "Expect"):
      let isContinue = field.bytes.withUnsafeBytes { $0.equalsIgnoringCase("100-continue") }
      expectsContinue = expectsContinue || isContinue
    case 10 where field.name.isSameHeaderName(as: "Connection"):
      var options = ConnectionOptions()
      field.bytes.withUnsafeBytes { options.noteConnection($0) }
      closes = closes || options.closes
    default: return
    }
  }
}
