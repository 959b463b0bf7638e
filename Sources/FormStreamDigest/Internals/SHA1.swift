/// Computes the SHA-1 digest (FIPS 180-4 §6.1) of bytes that arrive in pieces. It finds damage, but not forgery. It is here only
/// because a protocol wants it.
package struct SHA1: ~Copyable, Sendable {
  package static let byteCount = DigestContext.Kind.sha1.byteCount

  private var context: DigestContext

  /// Starts a digest.
  ///
  /// - Throws: `digestFailed` if there is not enough memory, or the system's OpenSSL configuration
  ///   has no provider of SHA-1.
  package init() throws(DigestError) {
    context = try DigestContext(.sha1)
  }

  /// Adds the next bytes. An empty buffer changes nothing.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) {
    try context.update(bytes)
  }

  /// Returns the digest of all the bytes, and consumes the state.
  package consuming func finalize() throws(DigestError) -> [UInt8] {
    try context.finalize()
  }
}
