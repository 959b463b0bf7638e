// The only file of this module that talks to libcrypto. Nothing above it sees `EVP` or a status that
// is 1 for success.

import CFormStreamCrypto

/// SHA-256 (FIPS 180-4 §6.2) of bytes that come piece by piece.
///
/// Its state is libcrypto's and has one owner: it is freed when that owner goes, on every way out.
package struct SHA256: ~Copyable {
  private let context: OpaquePointer

  /// Starts with no bytes.
  ///
  /// - Throws: `digestFailed` where memory is short, or where the system's OpenSSL configuration
  ///   leaves no provider of SHA-256.
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

  /// Takes the next bytes, as many as there are; none is nothing.
  ///
  /// C: `EVP_DigestUpdate`
  package mutating func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    guard EVP_DigestUpdate(context, start, bytes.count) == 1 else {
      throw Self.failure(to: "take \(bytes.count) bytes")
    }
  }

  /// The digest of all the bytes. There is no going on from here: it consumes the state.
  ///
  /// C: `EVP_DigestFinal_ex`
  package consuming func finalize() throws(DigestError) -> Digest {
    let context = context
    var status: CInt = 0
    // `EVP_DigestFinal_ex` asks for no more room than the digest's own size, which is fixed.
    let bytes = [UInt8](unsafeUninitializedCapacity: Digest.byteCount) { buffer, count in
      status = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
      count = status == 1 ? Digest.byteCount : 0
    }
    guard status == 1, let digest = Digest(bytes) else { throw Self.failure(to: "finish") }
    return digest
  }

  /// Why it failed stays in libcrypto: its queue of errors is a header that is not imported. What is
  /// left there troubles nobody, for libcurl clears the queue before it calls into TLS.
  private static func failure(to act: String) -> DigestError {
    DigestError(
      .digestFailed, on: "SHA-256",
      "The SHA-256 digest can't be made, libcrypto failed to \(act): see that memory is left and that "
        + "the OpenSSL configuration (openssl.cnf, OPENSSL_CONF) has a provider of SHA-256.")
  }
}

/// libcrypto's state belongs to no thread, and this is its one owner: it can't be copied, so it moves
/// to another thread whole, and every use of it is exclusive.
extension SHA256: @unchecked Sendable {}
