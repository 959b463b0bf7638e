// In this module, only the files in this folder call libcrypto. The other files never see `EVP` or a status code.

package import FormStreamPlatform

/// Computes the SHA-256 digest (FIPS 180-4 §6.2) of bytes that arrive in pieces.
package struct SHA256: ~Copyable, Sendable {
  private var context: DigestContext

  /// Starts a digest.
  ///
  /// - Throws: `digestFailed` if there is not enough memory, or the system's OpenSSL configuration
  ///   has no provider of SHA-256.
  package init() throws(DigestError) {
    context = try DigestContext(.sha256)
  }

  /// Adds the next bytes. An empty buffer changes nothing.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) {
    try context.update(bytes)
  }

  /// Returns the digest of all the bytes, and consumes the state.
  package consuming func finalize() throws(DigestError) -> SHA256Digest {
    let bytes = try context.finalize()
    guard let digest = SHA256Digest(bytes: bytes) else {
      throw DigestContext.failure(of: .sha256, to: "finish")
    }
    return digest
  }

  /// The digest of bytes in memory.
  package static func digest(of bytes: [UInt8]) throws(DigestError) -> SHA256Digest {
    var state = try SHA256()
    try bytes.withUnsafeBufferPointer { bytes throws(DigestError) in
      try state.update(UnsafeRawBufferPointer(bytes))
    }
    return try state.finalize()
  }

  /// The digest of a text in UTF-8.
  package static func digest(of text: String) throws -> SHA256Digest {
    try digest(of: Array(text.utf8))
  }
}
