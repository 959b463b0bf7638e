import FormStreamPlatform

extension SHA256 {
  /// A SHA-256 digest.
  package struct Digest: Hashable, Sendable {
    /// FIPS 180-4, figure 1: "Message Digest Size (bits)" 256.
    package static let byteCount = 32

    /// The 32 bytes of the digest.
    package let bytes: [UInt8]

    /// Wraps the bytes of a digest; nil if there are not `byteCount`.
    package init?(_ bytes: [UInt8]) {
      guard bytes.count == Self.byteCount else { return nil }
      self.bytes = bytes
    }
  }
}

extension SHA256.Digest: CustomStringConvertible {
  /// The digest as `sha256sum` writes it: 64 lowercase hexadecimal digits.
  package var description: String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      text.append(Hexadecimal.digit(byte >> 4))
      text.append(Hexadecimal.digit(byte))
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension SHA256.Digest {
  /// Parses 64 hexadecimal digits of either case; nil if the text is anything else.
  package init?(hexadecimal text: String) {
    let digits = text.utf8.compactMap(Hexadecimal.value)
    guard digits.count == text.utf8.count, digits.count == 2 * Self.byteCount else { return nil }
    self.init((0..<Self.byteCount).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] })
  }
}
