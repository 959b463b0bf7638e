import FormStreamMultipart

/// The head of an HTTP/1.1 request or response, and what is wrong with it.
///
/// It is judged more strictly than a server or a client has to: FormStream and its tests have no reason to send
/// anything that needs leniency. A fault is reported, and the rest of the head is read if possible.
struct HTTPHead {
  /// A request's method; empty in a response.
  private(set) var method = ""
  /// A request's target as it stands in the request line; empty in a response.
  private(set) var target = ""
  /// A response's status; 0 in a request, and if there is none.
  private(set) var status = 0
  private(set) var headers: [RecordedHeader] = []
  private(set) var framing = RecordedFraming.none
  private(set) var faults: [(kind: WireFault.Kind, what: String)] = []
  /// Bytes before the method that belong to no request: the `xyz` of `xyzPOST`.
  private(set) var stray: [UInt8] = []

  /// The known methods. Other bytes before the target are stray.
  static let methods = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "PROPFIND", "MKCOL",
    "MOVE",
    "PURGE",
  ]

  /// Whether these bytes can be the beginning of a request.
  static func couldBeginRequest(_ bytes: [UInt8]) -> Bool {
    methods.contains { "\($0) ".utf8.starts(with: bytes.prefix($0.utf8.count + 1)) }
  }

  /// Reads a request's head, with the empty line at its end.
  init(request bytes: [UInt8]) {
    readRequestLine(readLines(bytes))
    readFraming()
    // RFC 9112 §3.2: "A client MUST send a Host header field in all HTTP/1.1 request messages."
    let hosts = values("host").count
    if hosts != 1 { fault(.syntax, "there are \(hosts) Host headers") }
  }

  /// Reads a response's head, with the empty line at its end.
  ///
  /// - Parameter isToHEAD: whether the request was HEAD, so that the response has no body.
  init(response bytes: [UInt8], isToHEAD: Bool) {
    readStatusLine(readLines(bytes))
    readFraming()
    // RFC 9112 §6.3: no body in a response to HEAD, and with 1xx, 204 and 304; without a framing, the body ends
    // with the connection.
    if isToHEAD || status < 200 || status == 204 || status == 304 {
      framing = .none
    } else if framing == .none {
      framing = .untilClose
    }
  }

  private mutating func fault(_ kind: WireFault.Kind, _ what: String) {
    faults.append((kind, what))
  }

  private func values(_ name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name }.map(\.value)
  }

  /// Reads the headers, and returns the line before them.
  private mutating func readLines(_ bytes: [UInt8]) -> String {
    var lines = Array(bytes.split(separator: 10, omittingEmptySubsequences: false).dropLast())
    if lines.contains(where: { $0.last != 13 }) {
      fault(.syntax, "a line of the head ends in LF alone")
    }
    lines = lines.map { $0.last == 13 ? $0.dropLast() : $0 }
    if let last = lines.last, last.isEmpty { lines.removeLast() }
    for line in lines.dropFirst() {
      if let header = RecordedHeader(line: line) {
        headers.append(header)
      } else {
        fault(.syntax, "this is not a header: \(String(decoding: line, as: UTF8.self))")
      }
    }
    return String(decoding: lines.first ?? [], as: UTF8.self)
  }

  /// RFC 9112 §3: request-line = method SP request-target SP HTTP-version
  private mutating func readRequestLine(_ line: String) {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    method = words.first.map(String.init) ?? ""
    target = words.count > 1 ? String(words[1]) : ""
    if words.count != 3 || target.isEmpty || words[2] != "HTTP/1.1" {
      fault(.syntax, "this is not a request line: \(line)")
    }
    if Self.methods.contains(method) { return }
    if let known = Self.methods.first(where: { method.hasSuffix($0) }) {
      stray = Array(method.utf8.dropLast(known.utf8.count))
      method = known
    } else {
      fault(.syntax, "\(method) is not a known method")
    }
  }

  /// RFC 9112 §4: status-line = HTTP-version SP status-code SP [ reason-phrase ]
  private mutating func readStatusLine(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    let code = words.count == 3 && words[0] == "HTTP/1.1" ? words[1] : ""
    if code.utf8.count == 3, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      status = Int(code) ?? 0
    } else {
      fault(.syntax, "this is not a status line: \(line)")
    }
  }

  /// RFC 9112 §6.1: "A sender MUST NOT send a Content-Length header field in any message that contains a
  /// Transfer-Encoding header field."
  private mutating func readFraming() {
    let (lengths, encodings) = (values("content-length"), values("transfer-encoding"))
    if lengths.count > 1 {
      fault(.framing, "there are \(lengths.count) Content-Lengths: \(lengths)")
    }
    if encodings.count > 1 || encodings.contains(where: { $0.lowercased() != "chunked" }) {
      fault(.framing, "the Transfer-Encoding is \(encodings)")
      framing = .invalid
    } else if let length = lengths.first, !encodings.isEmpty {
      fault(.framing, "there are both a Content-Length (\(length)) and a Transfer-Encoding")
      framing = .both(contentLength: length)
    } else if !encodings.isEmpty {
      framing = .chunked
    } else if let length = lengths.first {
      // RFC 9110 §8.6: Content-Length = 1*DIGIT
      let isNumber = length.utf8.allSatisfy { (0x30...0x39).contains($0) }
      if isNumber, let count = Int(length) {
        framing = .contentLength(count)
      } else {
        fault(.framing, "the Content-Length is \(length)")
        framing = .invalid
      }
    }
  }
}

extension RecordedHeader {
  /// RFC 9112 §5: field-line = field-name ":" OWS field-value OWS. "No whitespace is allowed between the
  /// field name and colon." A folded line is refused, too.
  init?(line: ArraySlice<UInt8>) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
      return nil
    }
    let name = line[..<colon]
    let isToken = name.allSatisfy { byte in
      byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
    var value = line[(colon + 1)...]
    while let first = value.first, first == 0x20 || first == 9 { value.removeFirst() }
    while let last = value.last, last == 0x20 || last == 9 { value.removeLast() }
    guard isToken, value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 }) else { return nil }
    self.init(
      name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
  }
}
