import FormStreamPlatform

extension WireError: CustomStringConvertible {
  /// What is wrong with the response, as the end of a sentence: "The response can't be read: its head has …".
  package var description: String {
    if case .inTrailers(let error) = self { error.description(of: .trailers) } else { description(of: .head) }
  }

  /// - Parameter section: where a fault of a head is.
  private func description(of section: Section) -> String {
    switch self {
    case .notHTTP(let start): "it doesn't begin with \"HTTP/\"\(start.protocolName)"
    case .statusLine(let line): "its first line is not a status line of HTTP/1: \(line.quoted)"
    case .notHeader(let line): "a line of its \(section) is not a header: \(line.quoted)"
    case .blankBeforeHeaders: "white space stands before its first \(section.line)"
    case .forbiddenByte(let byte, let offset):
      "byte \(offset) of its \(section) is a \(byte == 0 ? "NUL" : "CR without an LF")"
    case .bareLF: "a line of its trailers ends with an LF alone"
    case .disguisedFraming(let name):
      "its \(section.prefix)\(name) is continued on another line, or has white space before the colon"
    case .overLimit(let limit, let maximum): limit.excess(over: maximum, in: section)
    case .inTrailers(let error): error.description
    case .contentLength(let value): "its Content-Length is not a number: \(value.quoted)"
    case .contentLengths(let one, let other):
      "it has two Content-Lengths, \(one) and \(other)"
    case .transferEncoding(let value):
      "its Transfer-Encoding is not a single \"chunked\": \(value.quoted)"
    case .chunkSize(nil): "the size of a chunk is larger than 2^63 - 1"
    case .chunkSize(let byte?): "\(byte.shown) stands in the line with the size of a chunk"
    case .chunkExtension(let byte): "\(byte.shown) stands in an extension of a chunk"
    case .chunkEnd(let byte):
      "a chunk has another length than its size says: \(byte.shown) stands in place of its CRLF"
    case .unasked: "it began before the request was sent"
    case .switchedProtocols: "the server changed the protocol, and the request doesn't ask for it (101)"
    case .cutOff(let place): place.description
    }
  }
}

extension WireError {
  /// A section of a message, with the words for it.
  fileprivate enum Section: String, CustomStringConvertible {
    case head
    case trailers

    var description: String { rawValue }
    var verb: String { self == .head ? "has" : "have" }
    /// What a line is.
    var line: String { self == .head ? "header" : "trailer" }
    /// What stands before the name of a line.
    var prefix: String { self == .head ? "" : "trailer " }
  }
}

extension WireError.Limit {
  fileprivate func excess(over maximum: Int, in section: WireError.Section) -> String {
    switch self {
    case .line: "a line of its \(section) has more than \(counted(maximum, "byte", "bytes"))"
    case .head: "its \(section) \(section.verb) more than \(counted(maximum, "byte", "bytes"))"
    case .headers: "its \(section) \(section.verb) more than \(counted(maximum, "header", "headers"))"
    case .interimBytes:
      "its interim heads and its trailers have more than \(counted(maximum, "byte", "bytes"))"
    case .interimHeads: "it has more than \(counted(maximum, "interim head", "interim heads"))"
    case .chunkOverhead:
      "the extensions of its chunks and its trailers have more than \(counted(maximum, "byte", "bytes"))"
    }
  }
}

extension WireError.Place: CustomStringConvertible {
  package var description: String {
    switch self {
    case .beforeResponse(afterInterim: false): "the connection ended before it began"
    case .beforeResponse(afterInterim: true): "the connection ended after an interim response"
    case .head(afterInterim: false): "the connection ended in its head"
    case .head(afterInterim: true): "the connection ended in a head after an interim response"
    case .body(let received, let length):
      "the connection ended after \(received) of \(counted(length, "byte", "bytes")) of its body"
    case .chunks(let received):
      "the connection ended before the last chunk, after \(counted(received, "byte", "bytes")) of its body"
    case .trailers: "the connection ended before the end of its trailers"
    case .untilClose(let received):
      "the connection broke after \(counted(received, "byte", "bytes")) of its body"
    }
  }
}

extension [UInt8] {
  fileprivate var quoted: String { String(decoding: self, as: UTF8.self).quoted }

  /// What the first bytes of something that isn't HTTP may be; empty if they could be many things.
  fileprivate var protocolName: String {
    // RFC 8446 §5.1: the types of a record are 20 to 23.
    if first.map({ (20...23).contains($0) }) == true { return ", but as TLS does" }
    // RFC 9113 §4.1: a frame begins with its length. The first frame of a server is SETTINGS, and short.
    return first == 0 ? ", but as HTTP/2 does" : ""
  }
}

extension UInt8 {
  /// A byte for messages: `the byte 0x0D`.
  fileprivate var shown: String {
    let digits = [Hexadecimal.digit(self >> 4, uppercase: true), Hexadecimal.digit(self, uppercase: true)]
    return "the byte 0x\(String(decoding: digits, as: UTF8.self))"
  }
}
