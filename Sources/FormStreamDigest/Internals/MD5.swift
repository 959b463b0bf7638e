import CFormStreamCrypto

/// The MD5 digest (RFC 1321), which Digest authentication demands of clients. It protects nothing else here.
package enum MD5 {
  /// - Throws: `digestFailed` if the system's OpenSSL configuration has no MD5, as in FIPS mode.
  ///
  /// C: `EVP_Digest`
  package static func digest(of bytes: [UInt8]) throws(DigestError) -> [UInt8] {
    var status: CInt = 0
    let digest = [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      status = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, EVP_md5(), nil)
      count = status == 1 ? 16 : 0
    }
    guard status == 1 else {
      throw DigestError(
        .digestFailed, on: "MD5",
        "The MD5 digest that the server asks for can't be computed: the OpenSSL configuration (openssl.cnf, "
          + "OPENSSL_CONF) has no provider of it. Let the server offer SHA-256.")
    }
    return digest
  }
}
