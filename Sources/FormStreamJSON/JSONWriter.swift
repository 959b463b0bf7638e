import FormStreamPlatform

extension JSONValue {
  /// The value's JSON in one line, with a line feed at its end.
  package func line() -> [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  /// Appends the value's JSON, without white space, in time linear in its length.
  package func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .boolean(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += String(value).utf8
    case .millionths(let value): writeMillionths(value, to: &bytes)
    case .string(let text): writeString(text, to: &bytes)
    case .array(let elements):
      writeList(of: elements, between: "[", "]", to: &bytes) { element, bytes in
        element.write(to: &bytes)
      }
    case .object(let members):
      writeList(of: members, between: "{", "}", to: &bytes) { member, bytes in
        member.write(to: &bytes)
      }
    }
  }
}

extension JSONValue {
  /// The value's JSON in lines for people: each member of an object has its own line.
  package func indentedLines() -> [UInt8] {
    var bytes: [UInt8] = []
    writeIndented(by: 0, to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  private func writeIndented(by width: Int, to bytes: inout [UInt8]) {
    guard case .object(let members) = self, !members.isEmpty else { return write(to: &bytes) }
    bytes.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      bytes += (index == 0 ? "\n" : ",\n").utf8
      bytes += repeatElement(UInt8(ascii: " "), count: width + 2)
      writeString(member.key, to: &bytes)
      bytes += " : ".utf8
      member.value.writeIndented(by: width + 2, to: &bytes)
    }
    bytes.append(UInt8(ascii: "\n"))
    bytes += repeatElement(UInt8(ascii: " "), count: width)
    bytes.append(UInt8(ascii: "}"))
  }
}

extension JSONValue.Member {
  /// Appends the key, a colon and the value's JSON.
  package func write(to bytes: inout [UInt8]) {
    writeString(key, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    value.write(to: &bytes)
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value's JSON, without a line feed.
  package var description: String {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

private func writeList<Element>(
  of elements: [Element], between opening: Unicode.Scalar, _ closing: Unicode.Scalar,
  to bytes: inout [UInt8], write: (Element, inout [UInt8]) -> Void
) {
  bytes.append(UInt8(ascii: opening))
  var isFirst = true
  for element in elements {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    write(element, &bytes)
  }
  bytes.append(UInt8(ascii: closing))
}

// MARK: Numbers

/// Appends a number of millionths as a decimal fraction: `0.25`, `-3.000001`, `12.0`. There is always a digit after the
/// point, so that programs that distinguish integers from fractions find the same type in each record.
///
/// RFC 8259 §6: number = [ minus ] int [ frac ] [ exp ]. The exponent is never used.
private func writeMillionths(_ number: Int64, to bytes: inout [UInt8]) {
  if number < 0 { bytes.append(UInt8(ascii: "-")) }
  let (integer, rest) = number.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
  bytes += String(integer).utf8
  bytes.append(UInt8(ascii: "."))
  // The digit 1 at the front keeps the leading zeros, and is dropped.
  let digits = String(1_000_000 + rest).utf8.dropFirst()
  let length = digits.lastIndex { $0 != UInt8(ascii: "0") }.map { digits[...$0].count } ?? 1
  bytes += digits.prefix(length)
}

// MARK: Strings

/// Appends text as a JSON string. A Swift string is valid Unicode, so the output is valid UTF-8.
///
/// RFC 8259 §7: "All Unicode characters may be placed within the quotation marks, except for the characters that MUST
/// be escaped: quotation mark, reverse solidus, and the control characters (U+0000 through U+001F)." This also escapes
/// every character that could do harm on a terminal, because a record may be shown on a terminal. A reader of JSON gets
/// the same text.
private func writeString(_ text: String, to bytes: inout [UInt8]) {
  bytes.append(UInt8(ascii: "\""))
  var text = text
  text.withUTF8 { utf8 in
    // Most text needs no escape, so the bytes between two escapes are copied at once.
    var copied = 0
    var index = 0
    while index < utf8.count {
      if isPlainASCII(utf8[index]) {
        index += 1
        continue
      }
      let (scalar, length) = scalar(at: index, of: utf8)
      if scalar == "\"" || scalar == "\\" || !scalar.isSafeToDisplay {
        bytes += utf8[copied..<index]
        writeEscape(of: scalar, to: &bytes)
        copied = index + length
      }
      index += length
    }
    bytes += utf8[copied...]
  }
  bytes.append(UInt8(ascii: "\""))
}

private func isPlainASCII(_ byte: UInt8) -> Bool {
  byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
}

/// RFC 8259 §7: char = … escape ( `"` / `\` / `/` / b / f / n / r / t / uXXXX ). "To escape an extended
/// character that is not in the Basic Multilingual Plane, the character is represented as a 12-character
/// sequence, encoding the UTF-16 surrogate pair."
private func writeEscape(of scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
  let short: Unicode.Scalar? =
    switch scalar {
    case "\"", "\\": scalar
    case "\u{08}": "b"
    case "\u{09}": "t"
    case "\u{0A}": "n"
    case "\u{0C}": "f"
    case "\u{0D}": "r"
    default: nil
    }
  if let short {
    bytes += [UInt8(ascii: "\\"), UInt8(ascii: short)]
    return
  }
  for unit in UTF16.encode(scalar) ?? .init() {
    bytes += "\\u".utf8
    for shift in stride(from: 12, through: 0, by: -4) {
      bytes.append(Hexadecimal.digit(unit >> shift))
    }
  }
}

/// The scalar that begins at an index, and the number of its bytes.
///
/// RFC 3629 §3: the number of leading ones in the first octet is the length of the sequence. The bits after the leading
/// ones, and the lowest six bits of each octet that follows, are the scalar. The bytes come from a string, so they are
/// valid.
private func scalar(
  at index: Int, of utf8: UnsafeBufferPointer<UInt8>
) -> (Unicode.Scalar, length: Int) {
  let first = utf8[index]
  if first < 0x80 { return (Unicode.Scalar(first), 1) }
  let length = (~first).leadingZeroBitCount
  var value = UInt32(first & (0x7F >> UInt8(length)))
  for byte in utf8[index + 1..<index + length] { value = value << 6 | UInt32(byte & 0x3F) }
  return (Unicode.Scalar(value) ?? "\u{FFFD}", length)
}
