import FormStreamNet
import FormStreamPlatform
import FormStreamTestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct TimerTests {
  @Test func `timers fire in the order of their moments, and those of one moment in the order in which they were set`()
    async throws
  {
    let loop = try TestLoop()
    let fired = Guarded<[Int]>([])
    try await loop.run { [loop = loop.loop] in
      for (number, delay) in [3, 1, 2, 1, 3, 0].enumerated() {
        LoopTimer(on: loop) { fired.withLock { $0.append(number) } }.set(after: .milliseconds(delay))
      }
    }
    #expect(await fired.awaited { $0.count == 6 } == [5, 1, 3, 2, 0, 4])
  }

  /// Sets, moves and cancels timers in random order, with a list beside them that is sorted at the end.
  @Test(arguments: 0..<20) func `whatever is set, moved and cancelled, the rest fires in order`(_ seed: Int) async throws {
    let loop = try TestLoop()
    let fired = Guarded<[Int]>([])
    let expected = try await loop.run { [loop = loop.loop] () -> [Int] in
      var random = SeededSequence(seed: UInt64(seed))
      var timers: [LoopTimer] = []
      var set: [Int: (moment: Int, order: Int)] = [:]
      for number in 0..<200 { timers.append(LoopTimer(on: loop) { fired.withLock { $0.append(number) } }) }
      for order in 0..<1000 {
        let number = Int.random(in: 0..<200, using: &random)
        if Int.random(in: 0..<4, using: &random) == 0 {
          timers[number].cancel()
          set[number] = nil
        } else {
          let moment = Int.random(in: 0..<20, using: &random)
          timers[number].set(after: .milliseconds(moment))
          set[number] = (moment, order)
        }
        if timers[number].isSet != (set[number] != nil) { return [] }
      }
      if loop.counts.timers != set.count { return [] }
      return set.sorted { ($0.value.moment, $0.value.order) < ($1.value.moment, $1.value.order) }.map(\.key)
    }
    #expect(!expected.isEmpty)
    #expect(await fired.awaited { $0.count >= expected.count } == expected)
    let left = try await loop.run { [loop = loop.loop] in loop.counts.timers }
    #expect(left == 0)
  }

  @Test func `a timer that sets itself again for now holds up nothing`() async throws {
    let loop = try TestLoop()
    let count = Guarded(0)
    let timer = OnLoop<LoopTimer?>(nil)
    try await loop.run { [loop = loop.loop] in
      timer.value = LoopTimer(on: loop) {
        count.withLock { $0 += 1 }
        timer.value?.set(at: loop.now)
      }
      timer.value?.set(at: loop.now)
    }
    for _ in 0..<100 { _ = try await loop.run { 0 } }
    #expect(await count.awaited { $0 > 100 } > 100)
    try await loop.run { timer.value.take()?.cancel() }
  }

  /// A timer that is late catches up: it sets itself for moments that are over.
  @Test func `a timer that sets itself again for a moment that is over doesn't hold up another one`() async throws {
    let loop = try TestLoop()
    let fired = Guarded(false)
    let timer = OnLoop<LoopTimer?>(nil)
    try await loop.run { [loop = loop.loop] in
      timer.value = LoopTimer(on: loop) { timer.value?.set(at: MonotonicTime(nanoseconds: 0)) }
      timer.value?.set(at: MonotonicTime(nanoseconds: 0))
      LoopTimer(on: loop) { fired.withLock { $0 = true } }.set(after: .nanoseconds(1))
    }
    let hasFired = await eventually { fired.withLock { $0 } }
    #expect(hasFired)
    try await loop.run { timer.value.take()?.cancel() }
  }

  @Test func `a timer can cancel another one of the same moment`() async throws {
    let loop = try TestLoop()
    let fired = Guarded<[Int]>([])
    try await loop.run { [loop = loop.loop] in
      let second = LoopTimer(on: loop) { fired.withLock { $0.append(2) } }
      let first = LoopTimer(on: loop) {
        fired.withLock { $0.append(1) }
        second.cancel()
      }
      let third = LoopTimer(on: loop) { fired.withLock { $0.append(3) } }
      for timer in [first, second, third] { timer.set(at: loop.now) }
    }
    #expect(await fired.awaited { $0.contains(3) } == [1, 3])
  }

  @Test func `moments don't overflow`() {
    let start = MonotonicTime.now
    #expect(start + .seconds(-5) == start)
    #expect(start < start + .nanoseconds(1))
    #expect(start + .seconds(Int64.max) < .never)
    #expect(MonotonicTime(nanoseconds: .max - 5) + .seconds(1) == .never)
    #expect(MonotonicTime(nanoseconds: 7_000_000_000) + .milliseconds(1500) == MonotonicTime(nanoseconds: 8_500_000_000))
    #expect(MonotonicTime(nanoseconds: 3) - MonotonicTime(nanoseconds: 5) == .nanoseconds(-2))
    #expect(MonotonicTime.never - MonotonicTime(nanoseconds: -5) == .longestWait)
  }
}
