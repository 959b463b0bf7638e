// Makes the digest of nothing, and says what came of it: run where libcrypto must fail.

import FormStreamDigest

do throws(DigestError) {
  print(try SHA256().finalize())
} catch {
  print("\(error.code.rawValue): \(error)")
}
