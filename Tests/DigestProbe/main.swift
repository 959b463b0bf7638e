// Makes the digest of nothing, and says what came of it: run where libcrypto must fail.

import Records

do throws(RecordsError) {
  print(try SHA256().finalize())
} catch {
  print("\(error.code.rawValue): \(error)")
}
