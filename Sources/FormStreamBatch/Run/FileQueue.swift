import FormStreamPlatform

/// The queue between the thread that lists files and the tasks that send them. It contains packs of files, one pack for
/// each request. It has room for a few packs, so that memory does not grow with the length of the listing.
final class FileQueue: Sendable {
  private struct State {
    var packs: [[BatchFile]] = []
    var waiting: [CheckedContinuation<[BatchFile]?, Never>] = []
    var isAtEnd = false
  }

  private let capacity: Int
  private let state = Guarded(State())

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Waits for room, and adds a pack. Returns false if the queue takes no more packs.
  func add(_ pack: [BatchFile]) -> Bool {
    let (isAdded, waiting) = state.waitUntil({ $0.packs.count < capacity || $0.isAtEnd }) {
      state -> (Bool, CheckedContinuation<[BatchFile]?, Never>?) in
      guard !state.isAtEnd else { return (false, nil) }
      guard state.waiting.isEmpty else { return (true, state.waiting.removeFirst()) }
      state.packs.append(pack)
      return (true, nil)
    }
    waiting?.resume(returning: pack)
    return isAdded
  }

  /// Ends the queue.
  ///
  /// - Parameter drops: whether the packs that are still in the queue are dropped.
  func end(dropping drops: Bool) {
    let waiting = state.withLock { state in
      state.isAtEnd = true
      if drops { state.packs = [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: nil) }
  }

  /// Waits for the next pack, and takes it; nil at the end.
  func next() async -> [BatchFile]? {
    await withCheckedContinuation { continuation in
      let (pack, isAtEnd) = state.withLock { state -> ([BatchFile]?, Bool) in
        if !state.packs.isEmpty { return (state.packs.removeFirst(), false) }
        if state.isAtEnd { return (nil, true) }
        state.waiting.append(continuation)
        return (nil, false)
      }
      if pack != nil || isAtEnd { continuation.resume(returning: pack) }
    }
  }
}
