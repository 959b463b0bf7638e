import FormStreamDigest
import Testing

@Suite struct UUIDTextTests {
  private struct Fixed: RandomNumberGenerator {
    let number: UInt64
    func next() -> UInt64 { number }
  }

  /// RFC 9562 §5.4: the version is 4, and the variant begins with the bits 10.
  @Test(
    arguments: [
      (0, "00000000-0000-4000-8000-000000000000"), (.max, "ffffffff-ffff-4fff-bfff-ffffffffffff"),
      (0x0123_4567_89AB_CDEF, "01234567-89ab-4def-8123-456789abcdef"),
    ] as [(UInt64, String)])
  func `a random UUID is of version 4`(number: UInt64, text: String) {
    var generator = Fixed(number: number)
    #expect(UUIDText.random(using: &generator) == text)
  }

  /// The first 16 bytes of the SHA-256 of "a", with the version and the variant.
  @Test func `the UUID of a name is always the same`() throws {
    #expect(try UUIDText.named("a") == "ca978112-ca1b-8dca-bac2-31b39a23dc4d")
  }

  @Test func `two random UUIDs are two`() {
    #expect(UUIDText.random() != UUIDText.random())
  }
}
