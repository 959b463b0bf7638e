import FormStreamTestSupport
import Testing

@testable import FormStreamBatch

@Suite struct RunHistoryTests {
  private static let second: Int64 = 1_000_000_000

  @Test func `a file counts when its outcome is known, and is on its way until then`() {
    var timeline = RunTimeline(from: 1000)
    timeline.add(from: 1000, to: 1000 + 2_500_000, acceptedBytes: 7)
    timeline.add(from: nil, to: 1000 + 2_500_000, acceptedBytes: nil)
    #expect(timeline.width == 1_000_000)
    #expect(timeline.length == 2_500_000)
    #expect(timeline.pieces.map(\.accepted) == [0, 0, 1])
    #expect(timeline.pieces.map(\.bytes) == [0, 0, 7])
    #expect(timeline.pieces.map(\.others) == [0, 0, 1])
    #expect(timeline.pieces.map(\.underWay) == [1_000_000, 1_000_000, 500_000])
  }

  @Test func `a long run joins pieces and loses nothing`() {
    var timeline = RunTimeline(from: 0)
    let count = 5000
    for index in 0..<count {
      let end = Int64(index + 1) * Self.second
      timeline.add(from: end - Self.second, to: end, acceptedBytes: 3)
      #expect(timeline.pieces.count <= 480)
    }
    #expect(timeline.pieces.reduce(0) { $0 + $1.accepted } == count)
    #expect(timeline.pieces.reduce(0) { $0 + $1.bytes } == 3 * Int64(count))
    #expect(timeline.pieces.reduce(0) { $0 + $1.underWay } == Double(count) * 1e9)
    #expect(Int64(timeline.pieces.count) * timeline.width > timeline.length)
  }

  @Test(arguments: [
    (Int64.min, Int64.max), (.max, .min), (0, .min), (.min, .min), (.max, .max), (5, 4),
  ])
  func `times that can't be true trap nothing`(begun: Int64, ended: Int64) {
    for start in [Int64.min, -1, 0, .max] {
      var timeline = RunTimeline(from: start)
      timeline.add(from: begun, to: ended, acceptedBytes: .max)
      timeline.add(from: begun, to: ended, acceptedBytes: .max)
      timeline.add(from: nil, to: 0, acceptedBytes: -1)
      #expect(timeline.pieces.reduce(0) { $0 + $1.accepted } == 3)
      #expect(timeline.pieces.allSatisfy { $0.underWay >= 0 && $0.bytes >= 0 })
    }
  }

  @Test func `shares of durations are at most 4,5 % too long`() throws {
    var spread = DurationSpread()
    #expect(spread.quantile(0.5) == nil)
    for index in 1...1000 { spread.add(Int64(index) * 1_000_000) }
    for share in [0.001, 0.01, 0.5, 0.9, 0.99, 1] {
      let found = try #require(spread.quantile(share)) / .milliseconds(1)
      #expect(found >= share * 1000 && found <= share * 1000 * 1.045, "\(share): \(found)")
    }
    for extreme in [Int64.min, 0, .max] { spread.add(extreme) }
    #expect(spread.quantile(1) == .nanoseconds(Int64.max))
    #expect(spread.quantile(0) == .nanoseconds(1))
  }
}
