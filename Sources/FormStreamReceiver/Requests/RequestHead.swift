import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform

/// A request's head as libmicrohttpd read it, and the check of its correctness. libmicrohttpd accepts heads that other
/// servers read differently. With such a head, a request could be smuggled in the body of another request.
///
/// Heads are bytes, so all text is compared as bytes. To Swift, a delimiter and a combining mark after it are one
/// `Character`.
///
/// Some flaws are not visible here, and so not refused: the line of a chunk's size, or a trailer, may end in LF alone or
/// contain a NUL.
struct RequestHead {
  let method: String
  /// The target as the client sent it.
  let target: String
  let version: String
  let fields: HTTPHeaders
  /// Whether the head consists only of the request line and the headers in `fields`, each on one line that ends in CR LF.
  let isPlain: Bool

  /// The values of all headers with that name, without the blanks around them (RFC 9112 §5.1: "OWS").
  func values(of name: String) -> [String] {
    unchangedValues(of: name).map { String($0.trimmingBlanks()) }
  }

  /// The values of all headers with that name, with their blanks. This is for headers whose blanks other servers may read
  /// differently.
  private func unchangedValues(of name: String) -> [String] {
    fields.filter { $0.name.isSameHeaderName(as: name) }.map(\.value)
  }

  var isUpload: Bool { method == "POST" || method == "PUT" }

  /// Whether the request may change something here: uploads, and going on with a resumable upload.
  var mayChangeSomething: Bool { isUpload || method == "PATCH" || method == "DELETE" }

  /// The path without the query, and without the scheme and host of an absolute target.
  var path: Substring { target.pathOfTarget }

  var contentLength: Int64? { values(of: "content-length").first.flatMap(Int64.init) }

  var framing: UploadRequest.Framing {
    if !values(of: "transfer-encoding").isEmpty { return .chunked }
    return contentLength == nil ? .none : .contentLength
  }

  /// The path without its first slashes, percent-decoded. Bytes that are not UTF-8 are replaced by U+FFFD.
  var decodedPath: String {
    let bytes = PercentDecoder.decoded(path.utf8.drop { $0 == UInt8(ascii: "/") })
    return String(decoding: bytes, as: UTF8.self)
  }

  /// This head without the headers of that name.
  func without(_ name: String) -> RequestHead {
    var rest: HTTPHeaders = [:]
    for field in fields where !field.name.isSameHeaderName(as: name) { rest.append(field) }
    return RequestHead(
      method: method, target: target, version: version, fields: rest, isPlain: isPlain)
  }

  /// Whether a body follows, or may follow.
  var announcesBody: Bool { framing == .chunked || contentLength ?? 0 > 0 }

  var expectsContinue: Bool {
    values(of: "expect").contains { $0.isSameHeaderName(as: "100-continue") }
  }
}

extension RequestHead {
  /// Why the head is refused; nil if it is correct.
  func refusal(limit: Int) -> UploadRefusal? {
    guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
      return UploadRefusal(
        .versionUnknown, status: 505,
        "The version \(version.quoted) is not supported: use HTTP/1.1.")
    }
    if let flaw { return UploadRefusal(.badRequest, status: 400, "\(flaw).") }
    let size = fields.reduce(method.utf8.count + target.utf8.count) {
      $0 + $1.name.utf8.count + $1.bytes.count + 4
    }
    guard size <= limit else {
      return UploadRefusal(
        .headTooLarge, status: 431,
        "The request's head has more than \(counted(limit, "byte", "bytes")): send fewer or shorter headers."
      )
    }
    return nil
  }

  private var flaw: String? {
    let lengths = unchangedValues(of: "content-length")
    let codings = unchangedValues(of: "transfer-encoding")
    let hosts = values(of: "host")
    // RFC 9112 §5.1: "A server MUST reject, with a response status code of 400 (Bad Request), any received
    // request message that contains whitespace between a header field name and colon."
    if let field = fields.first(where: { !HTTPSyntax.isToken($0.name.utf8) }) {
      return
        "The header name \(field.name.quoted) is invalid: it must be a token directly followed by a colon"
    }
    // RFC 9112 §2.2: "A recipient of such a bare CR MUST consider that element to be invalid"; §5.2: "A server
    // that receives an obs-fold in a request message … MUST either reject the message by sending a 400". A NUL
    // hides the rest of its line.
    guard isPlain else {
      return
        "A line of the head ends in LF alone, is continued on the next line, or contains a NUL or an extra space"
    }
    if let field = fields.first(where: { !HTTPSyntax.isFieldValue($0.bytes) }) {
      return "The value of the header \(field.name.quoted) contains a control character"
    }
    // RFC 9112 §3.2: "No whitespace is allowed in the request-target." libmicrohttpd takes all words between the method and
    // the version as the target.
    if target.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
      return
        "The target \(target.quoted) contains a blank or a control character: percent-encode it"
    }
    // RFC 9110 §5.3: several values are an error in a header that is not a list. Two servers may choose different values.
    let types = values(of: "content-type").count
    guard types <= 1 else { return "The request has \(types) Content-Type headers: send one" }
    // RFC 9112 §6.1: "A server MAY reject a request that contains both Content-Length and
    // Transfer-Encoding … might indicate an attempt to perform request smuggling".
    if !lengths.isEmpty, !codings.isEmpty {
      return "The request has both Content-Length and Transfer-Encoding: send one of them"
    }
    guard lengths.count <= 1 else {
      return "The request has \(lengths.count) Content-Length headers: send one"
    }
    if let length = lengths.first, !length.isLength {
      return "The Content-Length \(length.quoted) is invalid: send 1 to 18 digits"
    }
    // RFC 9112 §6.1: "A server that receives a request message with a transfer coding it does not understand SHOULD
    // respond with 501". But a coding that another server reads differently may be an attack, so it gets 400.
    guard codings.isEmpty || codings.count == 1 && codings[0].isChunked else {
      return
        "The Transfer-Encoding \(codings.joined(separator: ", ").quoted) is not supported: send \"chunked\", once"
    }
    if !codings.isEmpty, version == "HTTP/1.0" {
      return "HTTP/1.0 has no Transfer-Encoding: send a Content-Length, or use HTTP/1.1"
    }
    // RFC 9112 §3.2: "A server MUST respond with a 400 (Bad Request) status code to any HTTP/1.1 request
    // message that lacks a Host header field and to any request message that contains more than one".
    if hosts.isEmpty, version == "HTTP/1.1" { return "The request has no Host header: send one" }
    guard hosts.count <= 1 else { return "The request has \(hosts.count) Host headers: send one" }
    if let host = hosts.first, !host.isHost {
      return "The Host \(host.quoted) is invalid: send a name or an address, and the port"
    }
    // RFC 9110 §9.1: "method = token".
    guard HTTPSyntax.isToken(method.utf8) else {
      return "The method \(method.quoted) is invalid: it must be a token"
    }
    // RFC 9112 §3.2: only CONNECT and OPTIONS have targets of other forms.
    guard !isUpload || target.utf8.first == UInt8(ascii: "/") || target.isAbsoluteTarget else {
      return "The target \(target.quoted) is invalid: it must begin with a slash"
    }
    return nil
  }
}

extension String {
  /// The path of a target, without the query, and without the scheme and host of an absolute target.
  var pathOfTarget: Substring {
    var rest = utf8[...]
    if isAbsoluteTarget {
      // This drops the scheme and two slashes, then the host.
      rest = rest.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
      rest = rest.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    }
    let path = Substring(rest.prefix { $0 != UInt8(ascii: "?") })
    return path.isEmpty && isAbsoluteTarget ? "/" : path
  }

  /// RFC 9112 §3.2.2: "absolute-form = absolute-URI".
  fileprivate var isAbsoluteTarget: Bool {
    utf8.startsIgnoringCase(with: "http://") || utf8.startsIgnoringCase(with: "https://")
  }

  /// RFC 9110 §7.2: "Host = uri-host [ ":" port ]", which for HTTP is never empty.
  fileprivate var isHost: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        byte > 0x20 && byte != 0x7F && !"\"#,/<>?@\\^`{|}".utf8.contains(byte)
      }
  }

  /// Compares bytes: to Swift, letters such as U+212A (the Kelvin sign) are ASCII letters in another case.
  fileprivate var isChunked: Bool {
    utf8.elementsEqual("chunked".utf8) { $0 | 0x20 == $1 }
  }

  /// Any 18 digits fit into 64 bits.
  fileprivate var isLength: Bool {
    (1...18).contains(utf8.count) && isASCIIDigits
  }
}
