import FormStreamBatch
import FormStreamHTTP
import Testing

/// How many requests are allowed at the same time.
@Suite struct RequestPaceTests {
  private static func pace(_ maximum: Int) -> RequestPace {
    var policy = RetryPolicy(attempts: 3)
    policy.baseDelay = .zero
    return RequestPace(maximum: maximum, rate: nil, policy: policy)
  }

  @Test func `single refusals slow nothing`() {
    let pace = Self.pace(16)
    for number in 0..<1000 {
      if number % 3 == 0 { pace.noteRefusal(nil, begun: .now) } else { pace.noteResponse() }
    }
    #expect(pace.allowed == 16)
    #expect(!pace.isSlowed)
  }

  @Test(arguments: [(1, 4), (8, 4), (12, 6), (50, 8)])
  func `refusals in a row leave one request at a time`(maximum: Int, row: Int) async {
    let pace = Self.pace(maximum)
    for _ in 1..<row { pace.noteRefusal(nil, begun: .now) }
    #expect(pace.allowed == maximum)
    pace.noteRefusal(nil, begun: .now)
    #expect(pace.allowed == 1)
    #expect(await pace.enter())
    #expect(pace.active == 1)
    // A second request waits until the first has ended.
    async let second = pace.enter()
    pace.leave()
    #expect(await second)
    #expect(pace.active == 1)
  }

  @Test func `refusals of everything for ten minutes are enough, others are not`() {
    let (pace, start) = (Self.pace(4), ContinuousClock.now)
    func isEnough(_ seconds: Int) -> Bool {
      pace.noteRefusal(nil, begun: start, now: start + .seconds(seconds))
    }
    for second in 0..<599 { #expect(!isEnough(second)) }
    pace.noteResponse()
    for minute in 10..<20 { #expect(!isEnough(60 * minute)) }
    #expect(isEnough(1200))
    // A single refusal now and then says nothing.
    pace.noteResponse()
    for hour in 1..<10 { #expect(!isEnough(3600 * hour)) }
  }

  @Test func `half of many requests refused is an overload, too`() {
    let pace = Self.pace(16)
    for number in 0..<64 {
      #expect(pace.allowed == 16)
      if number % 2 == 1 { pace.noteRefusal(nil, begun: .now) } else { pace.noteResponse() }
    }
    #expect(pace.allowed == 1)
  }

  @Test func `a server that says how long to wait is overloaded`() {
    let pace = Self.pace(16)
    pace.noteRefusal(.zero, begun: .now)
    #expect(pace.allowed == 1)
  }

  @Test func `after an overload more is allowed, first quickly and then slowly`() {
    let pace = Self.pace(32)
    for _ in 0..<8 { pace.noteRefusal(nil, begun: .now) }
    var counts: [Int] = []
    while pace.allowed < 32, counts.count < 2000 {
      pace.noteResponse()
      counts.append(pace.allowed)
    }
    #expect(counts.prefix(15) == ArraySlice(2...16))
    // Then about as many responses for one more as there are requests.
    #expect((300...500).contains(counts.count), "\(counts.count)")
    #expect(!pace.isSlowed)
  }

  /// Regression: a request ended, and of several that waited only one began, although more were allowed again.
  @Test func `all that are allowed begin`() async {
    let pace = Self.pace(4)
    for _ in 0..<4 { pace.noteRefusal(nil, begun: .now) }
    #expect(await pace.enter())
    async let second = pace.enter()
    async let third = pace.enter()
    for _ in 0..<20 { pace.noteResponse() }
    let begun = await [second, third]
    #expect(begun == [true, true])
  }

  @Test func `after a stop no request begins`() async {
    let pace = Self.pace(2)
    pace.stop()
    #expect(await !pace.enter())
  }
}
