import CFormStreamCrypto

/// The SHA-512/256 digest (FIPS 180-4 §6.7), which servers may demand for Digest authentication (RFC 7616).
package enum SHA512256 {
  /// - Throws: `digestFailed` if the system's OpenSSL configuration has no provider of it.
  ///
  /// C: `EVP_Digest`
  package static func digest(of bytes: [UInt8]) throws(DigestError) -> [UInt8] {
    var status: CInt = 0
    let digest = [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      status = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, EVP_sha512_256(), nil)
      count = status == 1 ? 32 : 0
    }
    guard status == 1 else {
      throw DigestError(
        .digestFailed, on: "SHA-512/256",
        "The SHA-512/256 digest that the server asks for can't be computed: the OpenSSL configuration (openssl.cnf, "
          + "OPENSSL_CONF) has no provider of it. Let the server offer SHA-256.")
    }
    return digest
  }
}
