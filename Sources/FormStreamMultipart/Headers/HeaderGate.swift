/// The one gate for header text: what a header name, a header value and a media type may be made of.
/// `HeaderBlock` writes nothing but what has passed it and the names, which `EscapingProfile` makes
/// safe: those may hold control characters, as in browsers, but never a NUL or the end of a line.
package enum HeaderGate {
  /// RFC 9110 §5.6.2: token = 1*tchar.
  package static func isToken(_ text: some Sequence<UInt8>) -> Bool {
    var isEmpty = true
    for byte in text {
      guard isTokenByte(byte) else { return false }
      isEmpty = false
    }
    return !isEmpty
  }

  /// RFC 9110 §5.6.2: tchar = "!" / "#" / "$" / "%" / "&" / "'" / "*" / "+" / "-" / "." / "^" / "_" /
  /// "`" / "|" / "~" / DIGIT / ALPHA.
  static func isTokenByte(_ byte: UInt8) -> Bool {
    if isLetterOrDigit(byte) { return true }
    switch byte {
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"),
      UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
      UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"),
      UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      return true
    default:
      return false
    }
  }

  static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      return true
    default:
      return false
    }
  }

  /// RFC 9110 §5.5: "Field values containing CR, LF, or NUL characters are invalid and dangerous". The
  /// other control characters but the tab are no part of its grammar either. Bytes over 0x7F pass: names
  /// are UTF-8.
  package static func isFieldValue(_ text: some Sequence<UInt8>) -> Bool {
    text.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
  }
}
