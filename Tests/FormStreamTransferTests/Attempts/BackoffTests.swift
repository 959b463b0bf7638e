import FormStreamMultipart
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// How long to wait before another attempt.
@Suite struct BackoffTests {
  @Test(arguments: [(2, 1000), (3, 2000), (4, 4000), (6, 16_000), (7, 30_000), (60, 30_000)])
  func `delays are spread evenly from zero to a bound that doubles up to the maximum`(
    attempt: Int, bound: Int
  ) {
    var sequence = SeededSequence(seed: UInt64(attempt))
    let policy = RetryPolicy(attempts: 100)
    let waits = (0..<20_000).map { _ in
      Int(Backoff.wait(before: attempt, policy, using: &sequence) / .milliseconds(1))
    }.sorted()
    #expect(waits.allSatisfy { (0...bound).contains($0) })
    let mean = Double(waits.reduce(0, +)) / Double(waits.count)
    #expect(abs(mean / Double(bound) - 0.5) < 0.01)
    for share in [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99] {
      let quantile = Double(waits[Int(share * Double(waits.count))]) / Double(bound)
      #expect(abs(quantile - share) < 0.015, "at \(share)")
    }
  }

  @Test func `a fixed delay is neither random nor doubled, and Retry-After takes precedence`() {
    var policy = RetryPolicy(attempts: 100)
    policy.fixedDelay = .seconds(7)
    for attempt in [2, 3, 50] {
      #expect(Backoff.wait(before: attempt, policy, retryAfter: nil) == .seconds(7))
      #expect(Backoff.wait(before: attempt, policy, retryAfter: .zero) == .seconds(7))
      #expect(Backoff.wait(before: attempt, policy, retryAfter: .seconds(2)) == .seconds(2))
    }
    policy.fixedDelay = .seconds(-1)
    #expect(Backoff.wait(before: 2, policy, retryAfter: nil) == .zero)
  }

  @Test func `extreme settings don't trap`() {
    var sequence = SeededSequence(seed: 1)
    var policy = RetryPolicy(attempts: .max)
    policy.baseDelay = .seconds(Int64.max)
    policy.maximumDelay = .seconds(Int64.max)
    for attempt in [0, 1, 2, 3, 64, Int.max] {
      #expect(Backoff.wait(before: attempt, policy, using: &sequence) >= .zero)
    }
    policy.baseDelay = .seconds(-1)
    policy.maximumDelay = .seconds(-1)
    #expect(Backoff.wait(before: 2, policy, using: &sequence) == .zero)
  }

  /// The examples of RFC 9110 §5.6.7, and malformed values.
  @Test(
    arguments: [
      ("0", 0), ("120", 120), ("007", 7), ("Sun, 06 Nov 1994 08:49:37 GMT", 37),
      ("Sunday, 06-Nov-94 08:49:37 GMT", 37), ("Sun Nov  6 08:49:37 1994", 37),
      ("Sun Nov 16 08:49:37 1994", 10 * 86_400 + 37), ("Sun, 06 Nov 1994 08:48:59 GMT", 0),
      ("Mon, 07 Nov 1994 08:49:00 GMT", 86_400), ("Sun, 06 Nov 1904 08:49:37 GMT", 0),
      ("-5", nil), ("+5", nil), ("5.5", nil), ("5 s", nil), ("", nil), ("soon", nil), ("٣", nil),
      ("Sun, 06 Nov 1994", nil), ("1994-11-06T08:49:37Z", nil), ("0x10", nil),
    ] as [(String, Int?)])
  func `Retry-After is read in all its forms`(text: String, seconds: Int?) throws {
    // 1994-11-06 08:49:00.
    let now = Duration.seconds(784_111_740)
    var headers = HTTPHeaders()
    headers.append("retry-after", text)
    #expect(RetryAfter.duration(headers, now: now) == seconds.map { .seconds($0) })
    #expect(RetryAfter.duration(HTTPHeaders(), now: now) == nil)
  }

  @Test(arguments: [
    "999999999999", "99999999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT",
  ])
  func `a huge Retry-After does not overflow`(text: String) throws {
    var headers = HTTPHeaders()
    headers.append("Retry-After", text)
    #expect(try #require(RetryAfter.duration(headers)) > .seconds(86_400 * 365))
  }

  @Test func `each retry costs one of the budget, and each success earns back a tenth`() {
    let budget = RetryBudget(2)
    #expect([budget.take(), budget.take(), budget.take()] == [true, true, false])
    for _ in 0..<9 { budget.noteSuccess() }
    #expect(!budget.take())
    budget.noteSuccess()
    #expect(budget.take())
    for _ in 0..<1000 { budget.noteSuccess() }
    #expect([budget.take(), budget.take(), budget.take()] == [true, true, false])
    #expect(!RetryBudget(0).take())
    #expect(!RetryBudget(-1).take())
  }
}
