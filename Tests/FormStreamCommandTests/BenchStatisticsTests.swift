import FormStreamTestSupport
import Testing

@testable import FormStreamCommand

/// What `bench` says about differences.
@Suite struct BenchStatisticsTests {
  /// Numbers that chance has moved by up to a share, the same in each run of the test.
  private func noisy(_ middle: Double, by share: Double, count: Int, seed: UInt64) -> [Double] {
    var state = seed
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let unit = Double(state >> 11) / Double(1 << 53)
      return middle * (1 + share * (2 * unit - 1))
    }
  }

  @Test(arguments: [
    (1, false, 0, 0), (4, false, 0, 3), (5, true, 0, 4), (7, true, 0, 6), (9, true, 1, 7), (15, true, 3, 11),
    (100, true, 40, 59),
  ]) func `the range is that of a sign test`(_ count: Int, _ isSafe: Bool, _ low: Int, _ high: Int) {
    let ratio = Spread.ratio(of: (0..<count).map(Double.init), to: Array(repeating: 1, count: count))
    #expect(ratio.isSafe == isSafe)
    #expect(ratio.spread.low == Double(low) && ratio.spread.high == Double(high))
  }

  @Test func `the median is the middle number, or the middle of two`() {
    #expect(Spread([3, 1, 2]).median == 2)
    #expect(Spread([4, 1, 2, 3]).median == 2.5)
    #expect(Spread([5]).low == 5 && Spread([5]).high == 5)
  }

  @Test func `the same twice is no difference, and ten percent are one`() {
    var (falseAlarms, found) = (0, 0)
    for seed in 0..<200 as Range<UInt64> {
      let base = noisy(1, by: 0.06, count: 15, seed: seed)
      let same = Spread.ratio(of: noisy(1, by: 0.06, count: 15, seed: seed + 1000), to: base).spread
      if same.low > 1 || same.high < 1 { falseAlarms += 1 }
      let slower = Spread.ratio(of: noisy(1.1, by: 0.06, count: 15, seed: seed + 2000), to: base).spread
      if slower.low > 1 { found += 1 }
    }
    #expect(falseAlarms < 20, "\(falseAlarms)")
    #expect(found > 190, "\(found)")
  }

  /// What slows the machine for a while slows both programs of a round.
  @Test func `a machine that becomes slower hides nothing`() {
    let drift = (0..<9).map { 1 + Double($0) / 3 }
    let ratio = Spread.ratio(of: drift.map { $0 * 1.1 }, to: drift).spread
    #expect(ratio.low > 1.09 && ratio.high < 1.11)
  }

  @Test(arguments: [
    (0.0, 2, "0.00"), (1.005, 1, "1.0"), (12.345, 2, "12.35"), (-0.5, 0, "-1"), (-0.001, 2, "0.00"), (99.995, 2, "100.00"),
    (.nan, 2, "?"), (.infinity, 1, "?"),
  ]) func `numbers are rounded to places`(_ number: Double, _ places: Int, _ text: String) {
    #expect(decimal(number, places: places) == text)
  }

  @Test func `a program that takes too much memory is ended`() throws {
    let place = try TemporaryDirectory()
    let upload = try MeasuredUpload(
      of: ["python3", "-c", "import time\nx = bytearray(b'x') * (300 << 20)\ntime.sleep(60)"],
      errors: place.path("errors"), memoryLimit: 100 << 20, isStopped: { false })
    #expect(upload.failure == "it was ended when it had more than 100 MiB of memory")
    #expect(upload.time < .seconds(60))
  }

  @Test func `a program that can't be started is an error`() throws {
    let place = try TemporaryDirectory()
    #expect(throws: (any Error).self) {
      try MeasuredUpload(
        of: ["./no-such-program"], errors: place.path("errors"), memoryLimit: .max, isStopped: { false })
    }
  }
}
