import FormStreamDigest

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
    IdempotencyKey(unchecked: UUIDText.random())
  }

  /// The key as a string of a structured field: `"` and `\` are escaped with a backslash (RFC 8941 §3.3.3).
  package var fieldValue: String {
    "\""
      + value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
