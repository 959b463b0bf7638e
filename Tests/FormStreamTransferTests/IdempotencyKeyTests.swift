import FormStreamTestSupport
@testable import FormStreamHTTP
import Testing

/// Keys that nobody else makes.
@Suite struct IdempotencyKeyTests {
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
  func `a random key is a UUID of version 4`(number: UInt64, text: String) {
    var generator = Fixed(number: number)
    #expect(IdempotencyKey.uuid(using: &generator) == text)
  }

  @Test func `two random keys are two`() {
    #expect(IdempotencyKey.random() != IdempotencyKey.random())
  }
}
