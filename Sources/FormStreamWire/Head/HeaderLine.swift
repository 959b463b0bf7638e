import FormStreamMultipart

/// One header of a head, as offsets in the bytes of the head.
struct HeaderLine: Sendable {
  var name: Range<Int>
  /// The value without the blanks at its ends. If the line is continued, the range has the line breaks in it.
  var value: Range<Int>
  /// Whether other lines continue this one.
  var isFolded = false
}

extension HeaderLine {
  /// The bytes of the value.
  ///
  /// RFC 9112 §5.2: a user agent "MUST replace each received obs-fold with one or more SP octets prior to interpreting the field
  /// value".
  func bytes(in head: [UInt8]) -> [UInt8] {
    guard isFolded else { return Array(head[value]) }
    var text: [UInt8] = []
    for line in head[value].split(whereSeparator: { $0 == .lf }) {
      let piece = (line.last == .cr ? line.dropLast() : line).trimmingBlanks()
      if piece.isEmpty { continue }
      if !text.isEmpty { text.append(.space) }
      text += piece
    }
    return text
  }
}

extension HTTPHeaders {
  /// Makes headers from the lines of a head.
  init(_ lines: [HeaderLine], of bytes: [UInt8]) {
    self.init()
    for line in lines {
      append(String(decoding: bytes[line.name], as: UTF8.self), bytes: line.bytes(in: bytes))
    }
  }
}
