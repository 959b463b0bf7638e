import FormStreamPlatform

extension SHA256 {
  /// What SHA-256 makes of some bytes.
  package struct Digest: Hashable, Sendable {
    /// FIPS 180-4, figure 1: "Message Digest Size (bits)" 256.
    package static let byteCount = 32

    /// The digest's 32 bytes.
    package let bytes: [UInt8]

    /// Takes a digest that was made elsewhere; nil where it is not `byteCount` long.
    package init?(_ bytes: [UInt8]) {
      guard bytes.count == Self.byteCount else { return nil }
      self.bytes = bytes
    }
  }
}

extension SHA256.Digest: CustomStringConvertible {
  /// The digest as `sha256sum` writes it: 64 lower-case hexadecimal digits.
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
  /// Takes a digest as `sha256sum` writes it; nil where it is none.
  package init?(hexadecimal text: String) {
    let digits = text.utf8.compactMap(Hexadecimal.value)
    guard digits.count == text.utf8.count, digits.count == 2 * Self.byteCount else { return nil }
    self.init((0..<Self.byteCount).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] })
  }
}
