import FormStreamPlatform
import Testing

/// A test here that fails may wait for ever, hence the time limits.
@Suite(.timeLimit(.minutes(2))) struct GuardedTests {
  @Test func `no change is lost among threads`() {
    let counter = Guarded(0)
    let ended = Guarded(0)
    for _ in 0..<4 {
      #expect(
        startThread("adding") {
          for _ in 0..<10_000 { counter.withLock { $0 += 1 } }
          ended.withLock { $0 += 1 }
        })
    }
    ended.waitUntil({ $0 == 4 }) { _ in }
    #expect(counter.withLock { $0 } == 40_000)
  }

  /// Each waits for a value of its own, so waking any one thread is not enough.
  @Test func `a change wakes the one waiter whose condition holds`() {
    let count = 6
    let value = Guarded(-1)
    let waiting = Guarded<Set<Int>>([])
    let woken = Guarded<[Int]>([])
    for number in 0..<count {
      #expect(
        startThread("waiting") {
          value.waitUntil({
            _ = waiting.withLock { $0.insert(number) }
            return $0 == number
          }) { _ in }
          woken.withLock { $0.append(number) }
        })
    }
    // Who has looked at the value holds the lock until it waits.
    waiting.waitUntil({ $0.count == count }) { _ in }
    let order = [3, 5, 0, 4, 1, 2]
    for (index, number) in order.enumerated() {
      value.withLock { $0 = number }
      woken.waitUntil({ $0.count == index + 1 }) { _ in }
    }
    #expect(woken.withLock { $0 } == order)
  }

  @Test func `one change wakes several waiters`() {
    let isOpen = Guarded(false)
    let waiting = Guarded(0)
    let woken = Guarded(0)
    for _ in 0..<5 {
      #expect(
        startThread("waiting") {
          isOpen.waitUntil({
            if !$0 { waiting.withLock { $0 += 1 } }
            return $0
          }) { _ in }
          woken.withLock { $0 += 1 }
        })
    }
    waiting.waitUntil({ $0 >= 5 }) { _ in }
    isOpen.withLock { $0 = true }
    woken.waitUntil({ $0 == 5 }) { _ in }
    #expect(woken.withLock { $0 } == 5)
  }

  @Test func `a waiter changes the value before any other sees it`() {
    let tickets = Guarded(0)
    let taken = Guarded(0)
    for _ in 0..<4 {
      #expect(
        startThread("taking") {
          tickets.waitUntil({ $0 > 0 }) { $0 -= 1 }
          taken.withLock { $0 += 1 }
        })
    }
    for _ in 0..<4 { tickets.withLock { $0 += 1 } }
    taken.waitUntil({ $0 == 4 }) { _ in }
    #expect(tickets.withLock { $0 } == 0)
  }

  @Test func `an error leaves the lock free`() {
    struct Failure: Error, Equatable {}
    let value = Guarded(1)
    #expect(throws: Failure()) { try value.withLock { _ throws(Failure) in throw Failure() } }
    #expect(throws: Failure()) {
      try value.waitUntil({ $0 == 1 }) { _ throws(Failure) in throw Failure() }
    }
    #expect(value.withLock { $0 } == 1)
  }
}

@Suite(.timeLimit(.minutes(2))) struct AutoResetEventTests {
  @Test func `a signal without a waiter is kept for one wait`() {
    let event = AutoResetEvent()
    event.signal()
    #expect(event.wait(atMost: nil))
    #expect(!event.wait(atMost: .zero))
  }

  @Test func `several kept signals count as one`() {
    let event = AutoResetEvent()
    for _ in 0..<3 { event.signal() }
    #expect(event.wait(atMost: .zero))
    #expect(!event.wait(atMost: .zero))
  }

  @Test func `without a signal a wait ends at its limit`() {
    let event = AutoResetEvent()
    #expect(!event.wait(atMost: .zero))
    #expect(!event.wait(atMost: .milliseconds(1)))
    #expect(!event.wait(atMost: .seconds(-1)))
  }

  @Test func `a time limit that the clock can't represent is no error`() {
    let event = AutoResetEvent()
    event.signal()
    #expect(event.wait(atMost: .seconds(Int64.max)))
  }

  @Test func `each signal wakes one waiter, until all are awake`() {
    let event = AutoResetEvent()
    let woken = Guarded(0)
    for _ in 0..<3 {
      #expect(
        startThread("waiting") {
          event.wait(atMost: nil)
          woken.withLock { $0 += 1 }
        })
    }
    for count in 1...3 {
      event.signal()
      woken.waitUntil({ $0 == count }) { _ in }
    }
    #expect(!event.wait(atMost: .zero))
  }

  @Test func `a signal from another thread ends a wait with a limit`() {
    let event = AutoResetEvent()
    #expect(startThread("signalling") { event.signal() })
    #expect(event.wait(atMost: .seconds(100)))
  }
}
