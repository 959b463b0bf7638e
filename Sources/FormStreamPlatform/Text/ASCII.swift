extension UInt8 {
  /// Whether this is one of `0` to `9`.
  @inlinable
  package var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  /// Whether this is one of `A` to `Z`, `a` to `z`, `0` to `9`.
  @inlinable
  package var isASCIILetterOrDigit: Bool {
    isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(asciiLowercased)
  }

  /// A letter of ASCII in lower case; any other byte unchanged.
  @inlinable
  package var asciiLowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}

extension String {
  /// Whether this is one or more of `0` to `9`, and nothing else.
  ///
  /// `Int(_:)` also accepts a sign, so callers that read a number check this first.
  package var isASCIIDigits: Bool { self[...].isASCIIDigits }
}

extension Substring {
  /// Whether this is one or more of `0` to `9`, and nothing else.
  package var isASCIIDigits: Bool { !utf8.isEmpty && utf8.allSatisfy(\.isASCIIDigit) }
}
