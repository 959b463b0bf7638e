/// What a header name, a header value and a media type may contain.
///
/// Every header that we send passes these checks. Names and file names of parts are the exception:
/// `EscapingProfile` makes them safe. They may contain control characters, as in browsers, but
/// never a NUL or a line break.
package enum HTTPSyntax {
  /// RFC 9110 §5.6.2: token = 1*tchar.
  package static func isToken(_ text: some Sequence<UInt8>) -> Bool {
    var isEmpty = true
    for byte in text {
      guard isTokenByte(byte) else { return false }
      isEmpty = false
    }
    return !isEmpty
  }

  /// Whether a text is a token. This overload is for the usual type: the generic function above is not specialized in
  /// other modules.
  package static func isToken(_ text: String.UTF8View) -> Bool {
    !text.isEmpty && text.allSatisfy(isTokenByte)
  }

  /// RFC 9110 §5.6.2: tchar = "!" / "#" / "$" / "%" / "&" / "'" / "*" / "+" / "-" / "." / "^" / "_"
  /// / "`" / "|" / "~" / DIGIT / ALPHA.
  @inlinable
  package static func isTokenByte(_ byte: UInt8) -> Bool {
    if byte.isASCIILetterOrDigit { return true }
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

  /// Whether a text can be a header value.
  package static func isFieldValue(_ text: some Sequence<UInt8>) -> Bool {
    text.allSatisfy(isFieldValueByte)
  }

  /// Whether a text can be a header value. Most callers have this type, and the generic function above
  /// is not specialized in other modules.
  package static func isFieldValue(_ text: String.UTF8View) -> Bool {
    text.allSatisfy(isFieldValueByte)
  }

  /// RFC 9110 §5.5: "Field values containing CR, LF, or NUL characters are invalid and dangerous". The only control
  /// character in the grammar of the RFC is the tab. Bytes over 0x7F are allowed, because names are UTF-8.
  @inlinable
  package static func isFieldValueByte(_ byte: UInt8) -> Bool {
    byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
  }
}
