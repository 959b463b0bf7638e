import FormStreamCommand
import Testing

@Suite struct RateMeterTests {
  private let start = ContinuousClock.now

  @Test func `there is no rate before half a second`() {
    var meter = RateMeter()
    #expect(meter.rate(0, at: start) == nil)
    meter.restart(at: start, bytes: 0)
    #expect(meter.rate(1000, at: start + .milliseconds(499)) == nil)
    #expect(meter.rate(1000, at: start + .milliseconds(500)) == 2000)
  }

  @Test func `only the last seconds count`() {
    var meter = RateMeter()
    meter.restart(at: start, bytes: 0)
    for second in 1...20 { meter.add(Int64(second) * 1000, at: start + .seconds(second)) }
    for second in 1...5 {
      meter.add(20_000 + Int64(second) * 50, at: start + .seconds(20 + second))
    }
    #expect(meter.rate(20_250, at: start + .seconds(25)) == 50)
  }

  @Test func `the rate falls to zero in a stall`() {
    var meter = RateMeter()
    meter.restart(at: start, bytes: 0)
    meter.add(5000, at: start + .seconds(1))
    #expect(meter.rate(5000, at: start + .seconds(1)) == 5000)
    #expect(meter.rate(5000, at: start + .seconds(2)) == 2500)
    for second in 2...7 { meter.add(5000, at: start + .seconds(second)) }
    #expect(meter.rate(5000, at: start + .seconds(7)) == 0)
  }

  @Test func `earlier points don't count after a restart`() {
    var meter = RateMeter()
    meter.restart(at: start, bytes: 0)
    meter.add(5000, at: start + .seconds(1))
    meter.restart(at: start + .seconds(2), bytes: 5000)
    #expect(meter.rate(5100, at: start + .seconds(3)) == 100)
  }
}
