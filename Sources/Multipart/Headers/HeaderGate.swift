/// The one gate through which all header text goes: escaped names and file names, media types
/// (guessed ones too), and extra headers. `EscapingProfile`, `MediaType` and `PartHeaders` ask it what may
/// pass, and are the only things that `HeaderBlock` writes.
enum HeaderGate {
  /// RFC 9110 §5.6.2: token = 1*tchar.
  static func isToken(_ text: some Sequence<UInt8>) -> Bool {
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

  /// RFC 9110 §5.5: field values are visible characters, spaces and tabs; "recipients … that contain
  /// CR, LF, or NUL" must be kept from ever seeing such a value. Bytes over 0x7F pass: names are UTF-8.
  static func isFieldValue(_ text: some Sequence<UInt8>) -> Bool {
    text.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
  }
}
