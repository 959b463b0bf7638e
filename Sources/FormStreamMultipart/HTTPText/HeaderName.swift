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
  /// Whether two texts name the same header. This overload is for the usual type. It is called often: about a dozen
  /// headers are looked up in each message. The generic function above is not specialized in other modules.
  package func isSameHeaderName(as other: String) -> Bool {
    let (own, others) = (utf8, other.utf8)
    guard own.count == others.count else { return false }
    return zip(own, others).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
  }
}

extension Sequence<UInt8> {
  /// Whether the bytes begin with an ASCII text, whatever the case of its letters.
  ///
  /// `hasPrefix` would compare characters. A combining mark after the text becomes a part of the last character of the
  /// text, so `hasPrefix` would not find the text.
  package func startsIgnoringCase(with text: StaticString) -> Bool {
    text.withUTF8Buffer { text in
      starts(with: text) { $0.asciiLowercased == $1.asciiLowercased }
    }
  }
}
