import FormStreamBatch
import FormStreamHTTP
import Testing

/// How many requests are allowed at the same time.
@Suite struct RequestPaceTests {
  private static var policy: RetryPolicy {
    var policy = RetryPolicy(attempts: 3)
    policy.baseDelay = .zero
    return policy
  }

  @Test func `an overloaded server gets half as many requests, each time`() async {
    let pace = RequestPace(maximum: 16, rate: nil, policy: Self.policy)
    #expect(pace.allowed == 16)
    pace.noteOverload(nil, begun: .now)
    #expect(pace.allowed == 8)
    for _ in 0..<10 { pace.noteOverload(nil, begun: .now) }
    #expect(pace.allowed == 1)
    #expect(await pace.enter())
    #expect(pace.active == 1)
    // A second one waits until the first has ended.
    async let second = pace.enter()
    pace.leave()
    #expect(await second)
    #expect(pace.active == 1)
  }

  @Test func `of requests that were sent together, only the first refusal counts`() {
    let pace = RequestPace(maximum: 16, rate: nil, policy: Self.policy)
    let begun = ContinuousClock.now
    for _ in 0..<16 { pace.noteOverload(nil, begun: begun) }
    #expect(pace.allowed == 8)
  }

  @Test func `with successes a little more is allowed, up to what it was`() {
    let pace = RequestPace(maximum: 8, rate: nil, policy: Self.policy)
    for _ in 0..<5 { pace.noteOverload(nil, begun: .now) }
    var counts: [Int] = []
    while pace.allowed < 8, counts.count < 1000 {
      pace.noteSuccess()
      counts.append(pace.allowed)
    }
    #expect(pace.allowed == 8)
    // About as many successes for one more as there are requests.
    #expect((20...60).contains(counts.count), "\(counts)")
    #expect(!pace.isSlowed)
  }

  @Test func `after a stop no request begins`() async {
    let pace = RequestPace(maximum: 2, rate: nil, policy: Self.policy)
    pace.stop()
    #expect(await !pace.enter())
  }
}
