import FormStreamTransfer
import Testing

/// The one place that counts attempts, for requests, downloads and batches.
struct RetryLoopTests {
  private func policy(attempts: Int, _ change: (inout RetryPolicy) -> Void = { _ in })
    -> RetryPolicy
  {
    var policy = RetryPolicy(attempts: attempts)
    policy.fixedDelay = .seconds(7)
    change(&policy)
    return policy
  }

  @Test(arguments: [(-1, 0), (0, 0), (1, 0), (2, 1), (4, 3)])
  func `a policy allows one repetition less than attempts`(attempts: Int, repetitions: Int) {
    var loop = RetryLoop(policy(attempts: attempts))
    var count = 0
    while true {
      loop.tries += 1
      guard loop.next() == .attempt(after: .seconds(7)) else { break }
      count += 1
    }
    #expect(count == repetitions)
    #expect(loop.next() == .end(reason: nil))
  }

  @Test func `the server's Retry-After replaces the wait`() {
    var loop = RetryLoop(policy(attempts: 3))
    loop.tries = 1
    #expect(loop.next(retryAfter: .seconds(2)) == .attempt(after: .seconds(2)))
    #expect(loop.next(retryAfter: .zero) == .attempt(after: .seconds(7)))
    #expect(loop.next(retryAfter: .seconds(120)) == .attempt(after: .seconds(120)))
  }

  @Test func `a Retry-After that is too long ends the request, with a reason`() throws {
    var loop = RetryLoop(policy(attempts: 3))
    loop.tries = 1
    guard case .end(let reason?) = loop.next(retryAfter: .seconds(121)) else {
      return #expect(Bool(false), "another attempt")
    }
    #expect(reason.description.contains("121 s"))
    loop.tries = 3
    #expect(loop.next(retryAfter: .seconds(121)) == .end(reason: nil))
  }

  @Test func `no attempt begins after the time limit`() {
    let early = policy(attempts: 3) { $0.timeLimit = .seconds(60) }
    var loop = RetryLoop(early)
    loop.tries = 1
    #expect(loop.next() == .attempt(after: .seconds(7)))
    guard case .end(_?) = loop.next(retryAfter: .seconds(61)) else {
      return #expect(Bool(false), "another attempt")
    }
    #expect(!loop.isOverdue)
    var late = RetryLoop(early, start: .now - .seconds(55))
    late.tries = 1
    #expect(late.next() == .end(reason: nil))
    #expect(!late.isOverdue)
    #expect(RetryLoop(early, start: .now - .seconds(61)).isOverdue)
  }

  @Test func `only an attempt that follows takes a repetition out of the budget`() {
    let budget = RetryBudget(1)
    var loop = RetryLoop(policy(attempts: 3), budget: budget)
    loop.tries = 3
    #expect(loop.next() == .end(reason: nil))
    loop.tries = 1
    #expect(loop.next(retryAfter: .seconds(1000)) != .attempt(after: .seconds(1000)))
    #expect(loop.next() == .attempt(after: .seconds(7)))
    #expect(loop.next() == .end(reason: nil))
  }
}
