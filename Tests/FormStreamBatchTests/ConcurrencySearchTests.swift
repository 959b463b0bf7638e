import FormStreamHTTP
import FormStreamTestSupport
import Testing

@testable import FormStreamBatch

/// How many requests a run sends at the same time, if nobody says so.
@Suite struct ConcurrencySearchTests {
  /// Lets the search run for a while over a network that brings so many requests a second through, whose speed depends on their
  /// number at the same time. Returns the numbers in the order in which they were tried.
  private func numbers(
    of search: inout ConcurrencySearch, seconds: Double = 60, at start: ContinuousClock.Instant, _ speed: (Int) -> Double
  ) -> [Int] {
    var numbers = [search.count]
    var time = 0.0
    while time < seconds {
      time += 1 / speed(search.count)
      search.note(4096, now: start + .seconds(time))
      if numbers.last != search.count { numbers.append(search.count) }
    }
    return numbers
  }

  /// A network with a delay: each request takes as long, however many there are, up to what the server can do.
  private func delayed(_ most: Double) -> (Int) -> Double { { min(Double($0) * 20, most) } }

  @Test func `over a slow link, it multiplies up to the most`() {
    let start = ContinuousClock.now
    var search = ConcurrencySearch(maximum: 128, now: start)
    #expect(numbers(of: &search, at: start, delayed(.infinity)) == [4, 16, 64, 128])
  }

  @Test func `where more brings nothing, it goes back and stays`() {
    let start = ContinuousClock.now
    var search = ConcurrencySearch(maximum: 128, now: start)
    let tried = numbers(of: &search, at: start) { _ in 1000 }
    #expect(tried.prefix(3) == [4, 16, 4])
    // A little more is tried now and then.
    #expect(Set(tried.dropFirst(3)) == [4, 5])
  }

  /// A program's own work for each request becomes less if several responses come at once.
  @Test func `where more brings something, but not much, it stays if half would cost more`() {
    let start = ContinuousClock.now
    var search = ConcurrencySearch(maximum: 128, now: start)
    let tried = numbers(of: &search, at: start) { [4: 1000, 8: 1200, 16: 1400][$0] ?? 1400 }
    #expect(tried.prefix(5) == [4, 16, 8, 16, 20])
  }

  @Test func `where half does as well, it halves`() {
    let start = ContinuousClock.now
    var search = ConcurrencySearch(maximum: 128, now: start)
    let tried = numbers(of: &search, at: start) { min(Double($0), 6) * 100 }
    #expect(tried.prefix(4) == [4, 16, 8, 4])
    #expect(tried[4] == 8)
  }

  @Test func `it ends near the number from which on more brings nothing`() {
    let start = ContinuousClock.now
    var search = ConcurrencySearch(maximum: 128, now: start)
    _ = numbers(of: &search, seconds: 600, at: start, delayed(500))
    #expect((14...32).contains(search.count))
  }

  @Test func `it finds more when the network becomes faster, and less after overload`() {
    let start = ContinuousClock.now
    var search = ConcurrencySearch(maximum: 128, now: start)
    _ = numbers(of: &search, at: start, delayed(80))
    #expect(search.count < 8)
    let faster = start + .seconds(60)
    _ = numbers(of: &search, seconds: 600, at: faster, delayed(.infinity))
    #expect(search.count > 20)
    let before = search.count
    search.noteOverload(now: faster + .seconds(600))
    #expect(search.count == before / 2)
    for _ in 0..<10 { search.noteOverload(now: faster + .seconds(600)) }
    #expect(search.count == 4)
  }

  @Test func `it never exceeds the most, even if that is less than the usual beginning`() {
    let start = ContinuousClock.now
    var search = ConcurrencySearch(maximum: 2, now: start)
    #expect(numbers(of: &search, at: start, delayed(.infinity)) == [2])
  }

  @Test func `at most four large files are sent at the same time`() async {
    let pace = RequestPace(maximum: 64, isFound: true, rate: nil, policy: RetryPolicy(attempts: 1))
    #expect(pace.limit == 4)
    for _ in 0..<4 { #expect(await pace.enter(65 << 20)) }
    async let fifth = pace.enter(65 << 20)
    pace.leave(65 << 20)
    #expect(await fifth)
    #expect(pace.active == 4)
  }

  /// Regression: a fifth large file held up all small ones.
  @Test func `small files don't wait for large ones`() async {
    let pace = RequestPace(maximum: 8, isFound: true, rate: nil, policy: RetryPolicy(attempts: 1))
    // Responses raise the number above four.
    while pace.limit < 8 { pace.noteResponse(1 << 40) }
    for _ in 0..<4 { #expect(await pace.enter(65 << 20)) }
    async let fifth = pace.enter(65 << 20)
    #expect(await eventually { pace.waiting == 1 })
    for _ in 0..<4 { #expect(await pace.enter(1)) }
    #expect(pace.active == 8)
    pace.leave(65 << 20)
    #expect(await fifth)
    #expect(pace.active == 8)
  }
}
