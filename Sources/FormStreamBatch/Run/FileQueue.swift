import FormStreamPlatform

/// The files between the thread that lists them and the tasks that send them. It has room for a few, so that a listing
/// of any length takes no memory.
final class FileQueue: Sendable {
  private struct State {
    var files: [BatchFile] = []
    var waiting: [CheckedContinuation<BatchFile?, Never>] = []
    var isAtEnd = false
  }

  private let capacity: Int
  private let state = Guarded(State())

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Adds a file, and waits for room. Returns false if no more files are taken.
  func add(_ file: BatchFile) -> Bool {
    let (isAdded, waiting) = state.waitUntil({ $0.files.count < capacity || $0.isAtEnd }) {
      state -> (Bool, CheckedContinuation<BatchFile?, Never>?) in
      guard !state.isAtEnd else { return (false, nil) }
      guard state.waiting.isEmpty else { return (true, state.waiting.removeFirst()) }
      state.files.append(file)
      return (true, nil)
    }
    waiting?.resume(returning: file)
    return isAdded
  }

  /// Ends the queue.
  ///
  /// - Parameter drops: whether the files in it are not taken any more.
  func end(dropping drops: Bool) {
    let waiting = state.withLock { state in
      state.isAtEnd = true
      if drops { state.files = [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: nil) }
  }

  /// Takes the next file, and waits for it; nil at the end.
  func next() async -> BatchFile? {
    await withCheckedContinuation { continuation in
      let (file, isAtEnd) = state.withLock { state -> (BatchFile?, Bool) in
        if !state.files.isEmpty { return (state.files.removeFirst(), false) }
        if state.isAtEnd { return (nil, true) }
        state.waiting.append(continuation)
        return (nil, false)
      }
      if file != nil || isAtEnd { continuation.resume(returning: file) }
    }
  }
}
