import FormStreamPlatform
import FormStreamTestSupport
import Testing

@Suite struct Base64Tests {
  /// RFC 4648 §10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func `the examples of the RFC are encoded and decoded`(bytes: String, text: String) {
    #expect(base64(Array(bytes.utf8)) == text)
    #expect(base64Decoded(text) == Array(bytes.utf8))
    #expect(base64Decoded(text.filter { $0 != "=" }) == Array(bytes.utf8))
  }

  @Test(arguments: ["Z", "Zg===", "Zm9vZ", "Zm 9v", "Zm9v\n", "Zm-_", "Zg=a", "=", "ß"])
  func `text that is not base 64 is not decoded`(text: String) {
    #expect(base64Decoded(text) == nil)
  }

  @Test func `every byte and every length up to 300 are encoded as by Python`() throws {
    let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
    let expected = try python(
      """
      import base64, sys
      bytes = sys.stdin.buffer.read()
      for length in range(len(bytes) + 1):
        print(base64.b64encode(bytes[:length]).decode(), base64.b64encode(bytes[::-1][:length]).decode())
      """, bytes)
    try #require(expected.count == bytes.count + 1)
    for length in 0...bytes.count {
      let forward = base64(Array(bytes.prefix(length)))
      let backward = base64(Array(bytes.reversed().prefix(length)))
      #expect("\(forward) \(backward)" == expected[length], "\(length) bytes")
    }
  }
}
