import FormStreamPlatform

extension WireError: CustomStringConvertible {
  /// What is wrong with the response, as the end of a sentence: "The response can't be read: its head has …".
  package var description: String {
    switch self {
    case .notHTTP: "it doesn't begin with \"HTTP/\""
    case .statusLine(let line): "its first line is not a status line of HTTP/1: \(line.quoted)"
    case .notHeader(let line): "a line of its head is not a header: \(line.quoted)"
    case .blankBeforeHeaders: "white space stands before its first header"
    case .forbiddenByte(let byte, let offset):
      "byte \(offset) of its head is a \(byte == 0 ? "NUL" : "CR without an LF")"
    case .bareLF: "a line of its trailers ends with an LF alone"
    case .disguisedFraming(let name):
      "its \(name) is continued on another line, or has white space before the colon"
    case .overLimit(let limit, let maximum): limit.excess(over: maximum)
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

extension WireError.Limit {
  fileprivate func excess(over maximum: Int) -> String {
    switch self {
    case .line: "a line of its head has more than \(counted(maximum, "byte", "bytes"))"
    case .head: "its head has more than \(counted(maximum, "byte", "bytes"))"
    case .headers: "its head has more than \(counted(maximum, "header", "headers"))"
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
    case .head: "the connection ended in its head"
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
}

extension UInt8 {
  /// A byte for messages: `the byte 0x0D`.
  fileprivate var shown: String {
    let digits = [Hexadecimal.digit(self >> 4, uppercase: true), Hexadecimal.digit(self, uppercase: true)]
    return "the byte 0x\(String(decoding: digits, as: UTF8.self))"
  }
}
