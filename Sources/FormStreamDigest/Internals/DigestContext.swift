import CFormStreamCrypto
import FormStreamPlatform

/// The state of a digest of bytes that arrive in pieces.
///
/// The state is allocated by libcrypto. This value is its only owner, and frees it.
struct DigestContext: ~Copyable {
  enum Kind: String {
    /// FIPS 180-4 §6.1.
    case sha1 = "SHA-1"
    /// FIPS 180-4 §6.2.
    case sha256 = "SHA-256"

    var byteCount: Int {
      switch self {
      case .sha1: 20
      case .sha256: SHA256Digest.byteCount
      }
    }
  }

  private let kind: Kind
  private let context: OpaquePointer

  /// Starts a digest.
  ///
  /// - Throws: `digestFailed` if there is not enough memory, or the system's OpenSSL configuration
  ///   has no provider of the digest.
  ///
  /// C: `EVP_MD_CTX_new`, `EVP_DigestInit_ex`
  init(_ kind: Kind) throws(DigestError) {
    guard let context = EVP_MD_CTX_new() else {
      throw Self.failure(of: kind, to: "allocate its state")
    }
    let algorithm = kind == .sha1 ? EVP_sha1() : EVP_sha256()
    guard EVP_DigestInit_ex(context, algorithm, nil) == 1 else {
      EVP_MD_CTX_free(context)
      throw Self.failure(of: kind, to: "begin")
    }
    (self.kind, self.context) = (kind, context)
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Adds the next bytes. An empty buffer changes nothing.
  ///
  /// C: `EVP_DigestUpdate`
  mutating func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    guard EVP_DigestUpdate(context, start, bytes.count) == 1 else {
      throw Self.failure(of: kind, to: "add \(counted(bytes.count, "byte", "bytes"))")
    }
  }

  /// Returns the digest of all the bytes, and consumes the state.
  ///
  /// C: `EVP_DigestFinal_ex`
  consuming func finalize() throws(DigestError) -> [UInt8] {
    let (context, size) = (context, kind.byteCount)
    var status: CInt = 0
    // `EVP_DigestFinal_ex` writes exactly the bytes of the digest.
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      status = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
      count = status == 1 ? size : 0
    }
    guard status == 1 else { throw Self.failure(of: kind, to: "finish") }
    return bytes
  }

  /// The failure of a step. Its reason is not included: it stays in libcrypto's error queue, whose header is not
  /// imported. The entries of the queue do no harm: libcurl clears the queue before its TLS calls.
  static func failure(of kind: Kind, to act: String) -> DigestError {
    DigestError(
      .digestFailed, on: kind.rawValue,
      "The \(kind.rawValue) digest can't be computed, libcrypto failed to \(act): check that there is enough memory and "
        + "that the OpenSSL configuration (openssl.cnf, OPENSSL_CONF) has a provider of \(kind.rawValue).")
  }
}

/// The state of libcrypto is not bound to a thread, and this type is its only owner. It can't be
/// copied, so two threads never use it at the same time.
extension DigestContext: @unchecked Sendable {}
