import FormStreamMultipart

/// The head of a request, and what is wrong with it. It is judged more strictly than a server has to:
/// a client of ours has no reason for any leniency.
struct RequestHead {
  var method = ""
  var target = ""
  var headers: [RecordedHeader] = []
  var framing = RecordedFraming.none
  var faults: [(kind: WireFault.Kind, what: String)] = []
  /// What stands before the method where something does that is none: `xyzPOST`.
  var stray: [UInt8] = []

  /// The methods that are known; anything else before the target is taken for stray bytes.
  static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT"]

  /// Whether these bytes begin as a request does, so far as they go.
  static func couldBegin(_ bytes: [UInt8]) -> Bool {
    methods.contains { "\($0) ".utf8.starts(with: bytes.prefix($0.utf8.count + 1)) }
  }

  /// Takes a head, the empty line at its end included.
  init(_ bytes: [UInt8]) {
    var lines = Self.lines(bytes)
    if lines.contains(where: { $0.last != 13 }) {
      fault(.syntax, "a line of the head ends in LF alone")
    }
    lines = lines.map { $0.last == 13 ? $0.dropLast() : $0 }
    if let last = lines.last, last.isEmpty { lines.removeLast() }
    takeRequestLine(lines.first ?? [])
    for line in lines.dropFirst() {
      if let header = Self.header(line) {
        headers.append(header)
      } else {
        fault(.syntax, "this is no header: \(String(decoding: line, as: UTF8.self))")
      }
    }
    judgeFraming()
    // RFC 9112 §3.2: "A client MUST send a Host header field in all HTTP/1.1 request messages."
    let hosts = values("host").count
    if hosts != 1 { fault(.syntax, "there are \(hosts) Host headers") }
  }

  private mutating func fault(_ kind: WireFault.Kind, _ what: String) {
    faults.append((kind, what))
  }

  private func values(_ name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name }.map(\.value)
  }

  /// RFC 9112 §3: request-line = method SP request-target SP HTTP-version
  private mutating func takeRequestLine(_ line: ArraySlice<UInt8>) {
    let text = String(decoding: line, as: UTF8.self)
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    method = words.first.map(String.init) ?? ""
    target = words.count > 1 ? String(words[1]) : ""
    if words.count != 3 || target.isEmpty || words[2] != "HTTP/1.1" {
      fault(.syntax, "this is no request line: \(text)")
    }
    if Self.methods.contains(method) { return }
    if let known = Self.methods.first(where: { method.hasSuffix($0) }) {
      stray = Array(method.utf8.dropLast(known.utf8.count))
      method = known
    } else {
      fault(.syntax, "\(method) is no method that is known here")
    }
  }

  /// RFC 9112 §6.1: "A sender MUST NOT send a Content-Length header field in any message that contains a
  /// Transfer-Encoding header field."
  private mutating func judgeFraming() {
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

  /// RFC 9112 §5: field-line = field-name ":" OWS field-value OWS. "No whitespace is allowed between the
  /// field name and colon."; nor is a line folded.
  static func header(_ line: ArraySlice<UInt8>) -> RecordedHeader? {
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
    return RecordedHeader(
      name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
  }

  /// The lines, without the LF at their ends.
  private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    bytes.split(separator: 10, omittingEmptySubsequences: false).dropLast()
  }
}

/// Finds where a head ends, in bytes that come in pieces: behind the first empty line.
struct HeadSearch {
  private var lineIsEmpty = false

  /// The place behind the end of the head; nil where it isn't among these bytes.
  mutating func end(in bytes: UnsafeRawBufferPointer) -> Int? {
    for (place, byte) in bytes.enumerated() {
      if byte == 10 {
        if lineIsEmpty { return place + 1 }
        lineIsEmpty = true
      } else if byte != 13 {
        lineIsEmpty = false
      }
    }
    return nil
  }
}
