/// Hexadecimal digits, for digests, JSON escapes and percent codes.
package enum Hexadecimal {
  /// The digit for the lowest four bits of a number.
  @inlinable
  package static func digit(_ number: some BinaryInteger, uppercase: Bool = false) -> UInt8 {
    let nibble = UInt8(truncatingIfNeeded: number) & 0xF
    if nibble < 10 { return UInt8(ascii: "0") + nibble }
    return UInt8(ascii: uppercase ? "A" : "a") + nibble - 10
  }

  /// The value of a digit, upper or lower case; nil if the byte is not a digit.
  @inlinable
  package static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
