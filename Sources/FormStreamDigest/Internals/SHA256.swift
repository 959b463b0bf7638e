// In this module, only the files in this folder call libcrypto. The other files never see `EVP` or a status code.

package import FormStreamPlatform
import CFormStreamCrypto

/// Computes the SHA-256 digest (FIPS 180-4 §6.2) of bytes that arrive in pieces.
///
/// The state is allocated by libcrypto. This value is its only owner, and frees it.
package struct SHA256: ~Copyable {
  private let context: OpaquePointer

  /// Starts a digest.
  ///
  /// - Throws: `digestFailed` if there is not enough memory, or the system's OpenSSL configuration
  ///   has no provider of SHA-256.
  ///
  /// C: `EVP_MD_CTX_new`, `EVP_DigestInit_ex`
  package init() throws(DigestError) {
    guard let context = EVP_MD_CTX_new() else { throw Self.failure(to: "allocate its state") }
    guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      EVP_MD_CTX_free(context)
      throw Self.failure(to: "begin")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Adds the next bytes. An empty buffer changes nothing.
  ///
  /// C: `EVP_DigestUpdate`
  package mutating func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    guard EVP_DigestUpdate(context, start, bytes.count) == 1 else {
      throw Self.failure(to: "add \(counted(bytes.count, "byte", "bytes"))")
    }
  }

  /// The digest of a text in UTF-8.
  package static func digest(of text: String) throws -> SHA256Digest {
    var digest = try SHA256()
    try Array(text.utf8).withUnsafeBytes { try digest.update($0) }
    return try digest.finalize()
  }

  /// Returns the digest of all the bytes, and consumes the state.
  ///
  /// C: `EVP_DigestFinal_ex`
  package consuming func finalize() throws(DigestError) -> SHA256Digest {
    let context = context
    var status: CInt = 0
    // `EVP_DigestFinal_ex` writes exactly the bytes of the digest.
    let bytes = [UInt8](unsafeUninitializedCapacity: SHA256Digest.byteCount) { buffer, count in
      status = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
      count = status == 1 ? SHA256Digest.byteCount : 0
    }
    guard status == 1, let digest = SHA256Digest(bytes: bytes) else {
      throw Self.failure(to: "finish")
    }
    return digest
  }

  /// The digest of bytes in memory.
  package static func digest(of bytes: [UInt8]) throws(DigestError) -> SHA256Digest {
    let state = try SHA256()
    guard EVP_DigestUpdate(state.context, bytes, bytes.count) == 1 else {
      throw failure(to: "add \(counted(bytes.count, "byte", "bytes"))")
    }
    return try state.finalize()
  }

  /// The failure of a step. Its reason is not included: it stays in libcrypto's error queue, whose header is not
  /// imported. The entries of the queue do no harm: libcurl clears the queue before its TLS calls.
  private static func failure(to act: String) -> DigestError {
    DigestError(
      .digestFailed, on: "SHA-256",
      "The SHA-256 digest can't be computed, libcrypto failed to \(act): check that there is enough memory and "
        + "that the OpenSSL configuration (openssl.cnf, OPENSSL_CONF) has a provider of SHA-256.")
  }
}

/// The state of libcrypto is not bound to a thread, and this type is its only owner. It can't be
/// copied, so two threads never use it at the same time.
extension SHA256: @unchecked Sendable {}
