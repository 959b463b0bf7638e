import FormStreamPlatform

/// The queue between the thread that lists files and the tasks that send them. It contains packs of files, one pack for
/// each request. It has room for a few packs, so that memory does not grow with the length of the listing.
///
/// A task that waits before it repeats a request sets its pack aside, and another task takes the next pack meanwhile.
final class FileQueue: Sendable {
  private struct State {
    var packs: [[BatchFile]] = []
    /// The tasks that wait for a pack; the task that waits for longest is the first.
    var waiting: [CheckedContinuation<[BatchFile]?, Never>] = []
    /// How many packs were taken, and are neither done nor set aside.
    var inWork = 0
    /// How many packs tasks may have at the same time, without the packs that are set aside.
    var limit: Int
    var isAtEnd = false

    /// Takes the tasks that can go on, each with its pack; nil at the end.
    mutating func takeReady() -> [(task: CheckedContinuation<[BatchFile]?, Never>, pack: [BatchFile]?)] {
      var ready: [(task: CheckedContinuation<[BatchFile]?, Never>, pack: [BatchFile]?)] = []
      while !waiting.isEmpty, isAtEnd && packs.isEmpty || !packs.isEmpty && inWork < limit {
        let pack = packs.isEmpty ? nil : packs.removeFirst()
        if pack != nil { inWork += 1 }
        ready.append((waiting.removeFirst(), pack))
      }
      return ready
    }
  }

  private let capacity: Int
  private let state: Guarded<State>

  /// - Parameters:
  ///   - capacity: how many packs wait for a task.
  ///   - maximumInWork: how many packs tasks have at the same time, without the packs that are set aside.
  init(capacity: Int, maximumInWork: Int) {
    self.capacity = capacity
    state = Guarded(State(limit: maximumInWork))
  }

  /// Waits for room, and adds a pack. Returns false if the queue takes no more packs.
  func add(_ pack: [BatchFile]) -> Bool {
    let (isAdded, ready) = state.waitUntil({ $0.packs.count < capacity || $0.isAtEnd }) { state in
      if state.isAtEnd { return (false, state.takeReady()) }
      state.packs.append(pack)
      return (true, state.takeReady())
    }
    for (task, pack) in ready { task.resume(returning: pack) }
    return isAdded
  }

  /// Ends the queue.
  ///
  /// - Parameter drops: whether the packs that are still in the queue are dropped.
  func end(dropping drops: Bool) {
    change { state in
      state.isAtEnd = true
      if drops { state.packs = [] }
    }
  }

  /// Waits for the next pack, and takes it; nil at the end. The task that takes a pack calls `leave` when the pack is done.
  func next() async -> [BatchFile]? {
    await withCheckedContinuation { task in change { $0.waiting.append(task) } }
  }

  /// Notes that a pack is done, or is set aside until its request is repeated.
  func leave() { change { $0.inWork -= 1 } }

  /// Changes how many packs tasks may have at the same time.
  func allow(_ limit: Int) {
    if state.withLock({ $0.limit != limit }) { change { $0.limit = limit } }
  }

  /// Notes that a pack that was set aside is in work again.
  func takeUp() { change { $0.inWork += 1 } }

  private func change(_ body: (inout State) -> Void) {
    let ready = state.withLock { state in
      body(&state)
      return state.takeReady()
    }
    for (task, pack) in ready { task.resume(returning: pack) }
  }
}
