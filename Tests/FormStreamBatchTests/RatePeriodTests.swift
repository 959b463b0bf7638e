import FormStreamHTTP
import Testing

@testable import FormStreamBatch

/// Rates that hold at some times of the day.
@Suite struct RatePeriodTests {
  private func parsed(_ text: String) -> RatePeriod? { RatePeriod(text) { Int64($0) } }

  @Test func `a period has its first minute and not its last`() {
    #expect(parsed("09:00-18:00 2000") == RatePeriod(from: 540, to: 1080, rate: 2000))
    #expect(parsed("00:00-24:00 1") == RatePeriod(from: 0, to: 1440, rate: 1))
    let day = RatePeriod(from: 540, to: 1080, rate: 1)
    #expect([539, 540, 1079, 1080].map(day.contains) == [false, true, true, false])
    let night = RatePeriod(from: 1320, to: 360, rate: 1)
    #expect([1319, 1320, 1439, 0, 359, 360].map(night.contains) == [false, true, true, true, true, false])
    let always = RatePeriod(from: 60, to: 60, rate: 1)
    #expect([0, 59, 60, 61, 1439].allSatisfy(always.contains))
  }

  @Test(arguments: [
    "", "9:00-18:00 2", "09:00-18:00", "09:00 2", "09:60-18:00 2", "25:00-18:00 2", "24:01-18:00 2", "09:00-18:00 0",
    "09:00-18:00 -5", "09:00-18:00 2 3", "09:00-18:00-19:00 2", "+9:00-18:00 2", "09:00-18:00 x", "-09:00-18:00 2",
  ])
  func `other texts are none`(_ text: String) { #expect(parsed(text) == nil) }

  @Test func `the lowest rate counts, and is that of all requests`() throws {
    var batch = Batch(request: try TransferRequest(.post, "http://127.0.0.1:1/"))
    #expect(batch.rate(at: 600) == nil && batch.findsConcurrency)
    batch.ratePeriods = [
      RatePeriod(from: 540, to: 1080, rate: 4000), RatePeriod(from: 590, to: 610, rate: 400),
    ]
    #expect(batch.rate(at: 600) == 400 && batch.rate(at: 700) == 4000 && batch.rate(at: 0) == nil)
    #expect(!batch.findsConcurrency)
    batch.request.options.maximumRate = 2000
    batch.concurrency = 2
    #expect(batch.rate(at: 700) == 2000 && batch.rate(at: 0) == 2000)
    batch.ratePeriods = [RatePeriod(from: 0, to: 1440, rate: 1)]
    #expect(batch.rate(at: 0) == 1)
  }
}
