import FormStreamTestSupport
@testable import FormStreamHTTP
import Testing

/// Keys that nobody else makes.
@Suite struct IdempotencyKeyTests {
  @Test func `two random keys are two`() {
    #expect(IdempotencyKey.random() != IdempotencyKey.random())
  }
}
