/// A SHA-256 digest (FIPS 180-4).
public struct SHA256Digest: Hashable, Sendable {
  /// FIPS 180-4, figure 1: "Message Digest Size (bits)" 256.
  package static let byteCount = 32

  /// The 32 bytes of the digest.
  public let bytes: [UInt8]

  /// Wraps the bytes of a digest; nil if there are not 32.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }
}

extension SHA256Digest: LosslessStringConvertible {
  /// Parses 64 hexadecimal digits of either case; nil if the text is anything else.
  public init?(_ text: String) {
    let digits = text.utf8.compactMap(Hexadecimal.value)
    guard digits.count == text.utf8.count, digits.count == 2 * Self.byteCount else { return nil }
    self.init(bytes: (0..<Self.byteCount).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] })
  }

  /// The digest as `sha256sum` writes it: 64 lowercase hexadecimal digits.
  public var description: String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      text.append(Hexadecimal.digit(byte >> 4))
      text.append(Hexadecimal.digit(byte))
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// A digest is encoded as a string of 64 hexadecimal digits.
extension SHA256Digest: Codable {
  /// Reads the text of a digest.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let digest = Self(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "It is not 64 hexadecimal digits.")
    }
    self = digest
  }

  /// Writes the text of the digest.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
