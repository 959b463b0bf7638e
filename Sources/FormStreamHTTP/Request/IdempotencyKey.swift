/// A key by which a server recognizes a repeated request. It is the same in every attempt, and is sent as a quoted
/// string in the `Idempotency-Key` header (draft-ietf-httpapi-idempotency-key-header).
public struct IdempotencyKey: Hashable, Sendable {
  /// The key, without quotes.
  public let value: String

  /// Checks a key; nil unless it has 1 to 255 characters, all of them printable ASCII.
  public init?(_ value: String) {
    guard (1...255).contains(value.utf8.count),
      value.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { return nil }
    self.value = value
  }

  private init(unchecked value: String) {
    self.value = value
  }

  /// Creates a key from a new UUID.
  public static func random() -> IdempotencyKey {
    var generator = SystemRandomNumberGenerator()
    return IdempotencyKey(unchecked: uuid(using: &generator))
  }

  /// RFC 9562 §5.4: all bits of a UUID of version 4 are random but the version, 4, and the variant, 10.
  static func uuid(using generator: inout some RandomNumberGenerator) -> String {
    let (high, low): (UInt64, UInt64) = (generator.next(), generator.next())
    let digits =
      hexadecimal(high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000)
      + hexadecimal(low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text += "-" }
      text.append(digit)
    }
    return text
  }

  /// All sixteen digits of a number.
  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The key as a string of a structured field: `"` and `\` are escaped with a backslash (RFC 8941 §3.3.3).
  package var fieldValue: String {
    "\""
      + value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
