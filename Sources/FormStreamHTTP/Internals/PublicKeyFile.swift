import CFormStreamSSL
import FormStreamMultipart

/// Whether a file contains a public key (SubjectPublicKeyInfo), as PEM or DER.
///
/// C: `BIO_new_file`, `PEM_read_bio_PUBKEY`, `d2i_PUBKEY_bio`
func hasPublicKey(_ path: LocalPath) -> Bool {
  let readers: [(OpaquePointer) -> OpaquePointer?] = [
    { PEM_read_bio_PUBKEY($0, nil, nil, nil) }, { d2i_PUBKEY_bio($0, nil) },
  ]
  return readers.contains { read in
    guard let file = path.withCString({ BIO_new_file($0, "r") }) else { return false }
    defer { BIO_free(file) }
    let key = read(file)
    // Otherwise, later calls would report the errors of this call as their own.
    ERR_clear_error()
    defer { EVP_PKEY_free(key) }
    return key != nil
  }
}
