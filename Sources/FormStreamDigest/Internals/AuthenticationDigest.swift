import CFormStreamCrypto

/// The digests other than SHA-256 that a server may demand for Digest authentication (RFC 7616). They protect nothing
/// else here.
package enum AuthenticationDigest: String {
  /// RFC 1321.
  case md5 = "MD5"
  /// FIPS 180-4 §6.7.
  case sha512256 = "SHA-512/256"

  /// - Throws: `digestFailed` if the system's OpenSSL configuration has no provider of the digest. In FIPS mode, MD5
  ///   has no provider.
  ///
  /// C: `EVP_Digest`
  package func digest(of bytes: [UInt8]) throws(DigestError) -> [UInt8] {
    let (kind, size) =
      switch self {
      case .md5: (EVP_md5(), 16)
      case .sha512256: (EVP_sha512_256(), 32)
      }
    var status: CInt = 0
    let digest = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      status = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, kind, nil)
      count = status == 1 ? size : 0
    }
    guard status == 1 else {
      throw DigestError(
        .digestFailed, on: rawValue,
        "The \(rawValue) digest that the server asks for can't be computed: the OpenSSL configuration (openssl.cnf, "
          + "OPENSSL_CONF) has no provider of it. Let the server offer SHA-256.")
    }
    return digest
  }
}
