import FormStreamDigest
import FormStreamPlatform
import Testing

@Suite struct SHA1Tests {
  /// NIST's page "Cryptographic Standards and Guidelines, Examples with Intermediate Values"; the message of no bits is from SHAVS.
  @Test(arguments: [
    ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
    ),
  ])
  func `the examples of NIST`(_ message: String, _ expected: String) throws {
    var state = try SHA1()
    for byte in Array(message.utf8) { try [byte].withUnsafeBytes { try state.update($0) } }
    let digest = try state.finalize()
    let text = digest.map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0\(digits)" : digits
    }.joined()
    #expect(text == expected)
  }
}
