import FormStreamMultipart

/// Appends text as a JSON string. A Swift string is valid Unicode, so what comes out is valid UTF-8.
///
/// RFC 8259 §7: "All Unicode characters may be placed within the quotation marks, except for the
/// characters that MUST be escaped: quotation mark, reverse solidus, and the control characters (U+0000
/// through U+001F)." More than those is escaped here, for a record may be shown on a terminal: all that is
/// not harmless. To a reader of JSON it is the same text.
func writeString(_ text: String, to bytes: inout [UInt8]) {
  bytes.append(UInt8(ascii: "\""))
  var text = text
  text.withUTF8 { utf8 in
    // Most text needs no escape: what lies between two of them is copied at once.
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

/// The scalar that begins at a place, and how many bytes it has.
///
/// RFC 3629 §3: the number of leading ones of the first octet is the sequence's length; the bits behind
/// them, and the lowest six of each octet that follows, are the scalar's. The bytes are a string's own,
/// so they are valid.
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
