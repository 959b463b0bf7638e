import FormStreamPlatform

/// Why some bytes are not JSON.
package struct JSONSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The offset of the first byte that does not fit.
  package let offset: Int
  /// What was expected at the offset.
  package let expected: String

  package var description: String { "byte \(offset): expected \(expected)" }
}

extension JSONValue {
  /// The deepest nesting that the reader accepts. It is limited because JSON may come from outside, and each level
  /// takes room on the stack.
  package static let maximumDepth = 64

  /// Reads a JSON text (RFC 8259).
  ///
  /// Fractions are rounded to millionths, and a number that does not fit into 64 bits becomes null, as when JSON is
  /// written. Half of a surrogate pair becomes U+FFFD. If a key occurs twice, both members are kept.
  package init(parsing bytes: [UInt8]) throws(JSONSyntaxError) {
    var reader = JSONReader(bytes)
    self = try reader.readText()
  }

  /// The value of a key; nil if this is not an object or has no such key. If the key occurs twice, the last one
  /// counts, as in most readers of JSON.
  package subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.key == key }?.value
  }

  /// The text, if this is a string.
  package var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The number, if this is an integer.
  package var integer: Int64? {
    if case .integer(let number) = self { number } else { nil }
  }

  /// The elements, if this is an array.
  package var elements: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }
}

/// Reads one JSON text, in time linear in its length.
private struct JSONReader {
  private let bytes: [UInt8]
  private var index = 0
  private var depth = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// RFC 8259 §2: JSON-text = ws value ws
  mutating func readText() throws(JSONSyntaxError) -> JSONValue {
    let value = try readValue()
    guard next == nil else { throw expected("the end") }
    return value
  }

  private func expected(_ what: String) -> JSONSyntaxError {
    JSONSyntaxError(offset: index, expected: what)
  }

  /// The next byte that is not white space; nil at the end.
  private var next: UInt8? {
    mutating get {
      // ws = *( %x20 / %x09 / %x0A / %x0D )
      while let byte = current {
        guard byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D else { return byte }
        index += 1
      }
      return nil
    }
  }

  private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

  /// RFC 8259 §3: value = false / null / true / object / array / number / string
  private mutating func readValue() throws(JSONSyntaxError) -> JSONValue {
    switch next {
    case UInt8(ascii: "{"): return try readObject()
    case UInt8(ascii: "["): return try readArray()
    case UInt8(ascii: "\""): return .string(try readString())
    case UInt8(ascii: "t"): return try readLiteral("true", .boolean(true))
    case UInt8(ascii: "f"): return try readLiteral("false", .boolean(false))
    case UInt8(ascii: "n"): return try readLiteral("null", .null)
    default: return try readNumber()
    }
  }

  private mutating func readLiteral(
    _ text: String, _ value: JSONValue
  ) throws(JSONSyntaxError) -> JSONValue {
    guard bytes[index...].starts(with: text.utf8) else { throw expected("a value") }
    index += text.utf8.count
    return value
  }

  /// RFC 8259 §4: object = begin-object [ member *( value-separator member ) ] end-object
  private mutating func readObject() throws(JSONSyntaxError) -> JSONValue {
    var members: [JSONValue.Member] = []
    try readList(until: "}") { reader throws(JSONSyntaxError) in
      guard reader.next == UInt8(ascii: "\"") else { throw reader.expected("a key") }
      let key = try reader.readString()
      guard reader.next == UInt8(ascii: ":") else { throw reader.expected("a colon") }
      reader.index += 1
      members.append(JSONValue.Member(key, try reader.readValue()))
    }
    return .object(members)
  }

  /// RFC 8259 §5: array = begin-array [ value *( value-separator value ) ] end-array
  private mutating func readArray() throws(JSONSyntaxError) -> JSONValue {
    var elements: [JSONValue] = []
    try readList(until: "]") { reader throws(JSONSyntaxError) in
      elements.append(try reader.readValue())
    }
    return .array(elements)
  }

  private mutating func readList(
    until end: Unicode.Scalar, _ readElement: (inout JSONReader) throws(JSONSyntaxError) -> Void
  ) throws(JSONSyntaxError) {
    guard depth < JSONValue.maximumDepth else {
      throw expected("at most \(JSONValue.maximumDepth) levels")
    }
    depth += 1
    defer { depth -= 1 }
    index += 1
    if next == UInt8(ascii: end) {
      index += 1
      return
    }
    while true {
      try readElement(&self)
      let separator = next
      guard separator == UInt8(ascii: ",") || separator == UInt8(ascii: end) else {
        throw expected("a comma or \(end)")
      }
      index += 1
      if separator == UInt8(ascii: end) { return }
    }
  }
}

// MARK: Numbers

extension JSONReader {
  /// RFC 8259 §6: number = [ minus ] int [ frac ] [ exp ]; int = zero / ( digit1-9 *DIGIT ); frac = decimal-point
  /// 1*DIGIT; exp = e [ minus / plus ] 1*DIGIT
  private mutating func readNumber() throws(JSONSyntaxError) -> JSONValue {
    let start = index
    if current == UInt8(ascii: "-") { index += 1 }
    guard let first = current, first.isASCIIDigit else { throw expected("a value") }
    index += 1
    if first != UInt8(ascii: "0") { skipDigits() }
    var isInteger = true
    if current == UInt8(ascii: ".") {
      isInteger = false
      index += 1
      try readDigits()
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      isInteger = false
      index += 1
      if current == UInt8(ascii: "-") || current == UInt8(ascii: "+") { index += 1 }
      try readDigits()
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    return isInteger ? .integer(orNull: Int64(text)) : .fraction(rounding: Double(text))
  }

  private mutating func readDigits() throws(JSONSyntaxError) {
    guard current?.isASCIIDigit == true else { throw expected("a digit") }
    skipDigits()
  }

  private mutating func skipDigits() {
    while current?.isASCIIDigit == true { index += 1 }
  }
}

// MARK: Strings

extension JSONReader {
  /// RFC 8259 §7: string = quotation-mark *char quotation-mark
  private mutating func readString() throws(JSONSyntaxError) -> String {
    index += 1
    let start = index
    var text: [UInt8] = []
    var copied = index
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        // Most strings have no escapes, and are not copied.
        if copied > start { text += bytes[copied..<index] }
        let string =
          copied > start
          ? String(validating: text, as: UTF8.self)
          : String(validating: bytes[start..<index], as: UTF8.self)
        guard let string else {
          index = start
          throw expected("UTF-8")
        }
        index += 1
        return string
      case UInt8(ascii: "\\"):
        text += bytes[copied..<index]
        index += 1
        text += String(try readEscape()).utf8
        copied = index
      case 0..<0x20: throw expected("no control character")
      default: index += 1
      }
    }
    throw expected("a quotation mark")
  }

  /// RFC 8259 §7: char = … escape ( `"` / `\` / `/` / b / f / n / r / t / uXXXX )
  private mutating func readEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
    let escaped: Unicode.Scalar
    switch current {
    case UInt8(ascii: "\""): escaped = "\""
    case UInt8(ascii: "\\"): escaped = "\\"
    case UInt8(ascii: "/"): escaped = "/"
    case UInt8(ascii: "b"): escaped = "\u{08}"
    case UInt8(ascii: "f"): escaped = "\u{0C}"
    case UInt8(ascii: "n"): escaped = "\n"
    case UInt8(ascii: "r"): escaped = "\r"
    case UInt8(ascii: "t"): escaped = "\t"
    case UInt8(ascii: "u"):
      index += 1
      return try readScalar()
    default: throw expected("an escape")
    }
    index += 1
    return escaped
  }

  /// The scalar of four hexadecimal digits, or of a surrogate pair: "To escape an extended character that is not in
  /// the Basic Multilingual Plane, the character is represented as a 12-character sequence, encoding the UTF-16
  /// surrogate pair."
  private mutating func readScalar() throws(JSONSyntaxError) -> Unicode.Scalar {
    let first = try readUnit()
    guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) ?? "\u{FFFD}" }
    guard bytes[index...].starts(with: "\\u".utf8) else { return "\u{FFFD}" }
    let end = index
    index += 2
    let second = try readUnit()
    guard UTF16.isTrailSurrogate(second) else {
      // The second escape is a character of its own.
      index = end
      return "\u{FFFD}"
    }
    let value = 0x10000 + (UInt32(first) & 0x3FF) << 10 + UInt32(second) & 0x3FF
    return Unicode.Scalar(value) ?? "\u{FFFD}"
  }

  private mutating func readUnit() throws(JSONSyntaxError) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = current.flatMap(Hexadecimal.value) else {
        throw expected("a hexadecimal digit")
      }
      unit = unit << 4 | UInt16(digit)
      index += 1
    }
    return unit
  }
}
