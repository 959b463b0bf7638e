// Two programs for tests that need a process of their own:
//
//   formstream-digest-probe
//
// prints the digest of no bytes, or the error: tests run it with a configuration that makes
// libcrypto fail.
//
//   formstream-digest-probe drop
//
// drops 100,000 unfinished digests, and prints by how many bytes its memory grew.

import FormStreamDigest
import Glibc

/// The resident memory of this process in bytes.
func residentSize() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  guard fgets(&line, 256, file) != nil else { return 0 }
  let fields = String(decoding: line.map(UInt8.init(bitPattern:)), as: UTF8.self).split(
    separator: " ")
  return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
}

func dropDigests(_ count: Int) throws(DigestError) {
  for _ in 0..<count {
    var state = try SHA256()
    let bytes: [UInt8] = [1, 2, 3]
    var failure: DigestError?
    bytes.withUnsafeBytes { bytes in
      do throws(DigestError) { try state.update(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}

do throws(DigestError) {
  if CommandLine.arguments.dropFirst().first == "drop" {
    // The first digests load the provider and fill caches.
    try dropDigests(100)
    let before = residentSize()
    try dropDigests(100_000)
    print(residentSize() - before)
  } else {
    print(try SHA256().finalize())
  }
} catch {
  print("\(error.code.rawValue): \(error)")
}
