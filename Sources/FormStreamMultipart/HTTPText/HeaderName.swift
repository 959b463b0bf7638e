extension StringProtocol {
  /// Whether two texts name the same header. RFC 9110 §5.1: "Field names are case-insensitive".
  ///
  /// Only ASCII letters match in either case: Swift's `lowercased()` also maps letters of other
  /// alphabets to ASCII letters, such as the Kelvin sign to `k`.
  package func isSameHeaderName(as other: some StringProtocol) -> Bool {
    utf8.count == other.utf8.count
      && zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
  }
}

extension String {
  /// Whether two texts name the same header. This overload is for the usual type: each message asks for a dozen
  /// headers, and the generic function above is not specialized in other modules.
  package func isSameHeaderName(as other: String) -> Bool {
    let (own, others) = (utf8, other.utf8)
    guard own.count == others.count else { return false }
    return zip(own, others).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
  }
}

extension Sequence<UInt8> {
  /// Whether the bytes begin with an ASCII text, whatever the case of its letters.
  ///
  /// `hasPrefix` would compare characters. A delimiter with a combining mark after it is another character, so
  /// `hasPrefix` would not find it.
  package func startsIgnoringCase(with text: StaticString) -> Bool {
    text.withUTF8Buffer { text in
      starts(with: text) { $0.asciiLowercased == $1.asciiLowercased }
    }
  }
}
