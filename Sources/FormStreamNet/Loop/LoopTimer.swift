/// Calls a closure at a moment, on the thread of an ``EventLoop``.
///
/// A timer is made once and set as often as needed, which allocates nothing. All its functions belong to the loop's thread.
package final class LoopTimer {
  private let loop: EventLoop
  fileprivate let fire: () -> Void
  let loopEnds: (() -> Void)?
  /// The place in the loop's heap; nil if the timer is not set.
  fileprivate(set) var place: Int?

  /// Makes a timer that is not set.
  ///
  /// - Parameter loopEnds: called if the loop ends while the timer is set.
  package init(on loop: EventLoop, loopEnds: (() -> Void)? = nil, _ fire: @escaping () -> Void) {
    (self.loop, self.loopEnds, self.fire) = (loop, loopEnds, fire)
  }

  package var isSet: Bool { place != nil }

  /// Calls the closure once, as soon as the moment is over. An earlier setting no longer counts. After the loop's end, the timer
  /// stays unset.
  package func set(at moment: MonotonicTime) {
    assert(loop.isCurrent)
    // A task may outlive the loop. Its timer would never fire, and keep the loop for ever.
    if loop.hasEnded { return }
    // A moment that is over counts as now, or a timer that is late and sets itself again would go before all others.
    loop.timers.set(self, at: max(moment, loop.now))
  }

  /// Like ``set(at:)``, a time after the loop's ``EventLoop/now``.
  package func set(after time: Duration) { set(at: loop.now + time) }

  /// The closure is not called, unless the timer is set again.
  package func cancel() {
    assert(loop.isCurrent)
    if place != nil { loop.timers.remove(self) }
  }
}

/// The set timers, as a heap: the earliest is first, and setting or cancelling one of n takes log n steps.
struct TimerHeap {
  private struct Entry {
    let moment: MonotonicTime
    /// Timers of the same moment fire in the order in which they were set.
    let number: UInt64
    let timer: LoopTimer

    func isBefore(_ other: Entry) -> Bool {
      moment == other.moment ? number < other.number : moment < other.moment
    }
  }

  private var entries: ContiguousArray<Entry> = []
  private var nextNumber: UInt64 = 0

  var count: Int { entries.count }

  /// The moment of the earliest timer; ``MonotonicTime/never`` if there is none.
  var earliest: MonotonicTime { entries.first?.moment ?? .never }

  mutating func set(_ timer: LoopTimer, at moment: MonotonicTime) {
    let entry = Entry(moment: moment, number: nextNumber, timer: timer)
    nextNumber &+= 1
    if let place = timer.place {
      replace(place, with: entry)
    } else {
      entries.append(entry)
      timer.place = entries.count - 1
      moveUp(entries.count - 1, entry)
    }
  }

  mutating func remove(_ timer: LoopTimer) {
    guard let place = timer.place else { return }
    timer.place = nil
    let last = entries.removeLast()
    if place < entries.count { replace(place, with: last) }
  }

  /// Removes all timers, and returns them. The caller releases them, because the end of one may lead back to this heap.
  mutating func removeAll() -> [LoopTimer] {
    let timers = entries.map(\.timer)
    for timer in timers { timer.place = nil }
    entries.removeAll()
    return timers
  }

  /// Fires the timers whose moments are over. A timer that is set meanwhile waits for the next call, or a timer that sets
  /// itself again would hold up everything else.
  static func fire(upTo now: MonotonicTime, of loop: EventLoop) {
    let end = loop.timers.nextNumber
    while let first = loop.timers.entries.first, first.moment <= now, first.number < end {
      loop.timers.remove(first.timer)
      first.timer.fire()
    }
  }

  private mutating func replace(_ place: Int, with entry: Entry) {
    if place > 0, entry.isBefore(entries[(place - 1) / 2]) {
      moveUp(place, entry)
    } else {
      moveDown(place, entry)
    }
  }

  /// Puts an entry at a place or above it.
  private mutating func moveUp(_ start: Int, _ entry: Entry) {
    var place = start
    while place > 0 {
      let parent = (place - 1) / 2
      guard entry.isBefore(entries[parent]) else { break }
      put(entries[parent], at: place)
      place = parent
    }
    put(entry, at: place)
  }

  /// Puts an entry at a place or below it.
  private mutating func moveDown(_ start: Int, _ entry: Entry) {
    var place = start
    while true {
      var child = 2 * place + 1
      guard child < entries.count else { break }
      if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
      guard entries[child].isBefore(entry) else { break }
      put(entries[child], at: place)
      place = child
    }
    put(entry, at: place)
  }

  private mutating func put(_ entry: Entry, at place: Int) {
    entries[place] = entry
    entry.timer.place = place
  }
}
