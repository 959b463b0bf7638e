import FormStreamPlatform

/// The results that wait until they are read. If too many wait, no other files are begun.
final class ResultQueue: Sendable {
  private struct State {
    var results: [FileResult] = []
    /// The loops that wait for a result; the one that waits for longest is the first.
    var readers: [CheckedContinuation<FileResult?, any Error>] = []
    /// The tasks that wait for room.
    var writers: [CheckedContinuation<Void, Never>] = []
    /// Whether there is always room, because the run is to end soon.
    var isUnlimited = false
    var isEnded = false
    /// Why the run could not go on, until the loop has got the error.
    var failure: (any Error)?

    mutating func takeWriters() -> [CheckedContinuation<Void, Never>] {
      guard isUnlimited || results.count < capacity else { return [] }
      defer { writers = [] }
      return writers
    }
  }

  /// How many results wait before the run does. Those of the requests that are on their way are added in any case.
  private static let capacity = 256

  private let state = Guarded(State())

  /// Whether no more results are added.
  var isEnded: Bool { state.withLock(\.isEnded) }

  @Sendable func add(_ result: FileResult) {
    let reader = state.withLock { state in
      guard !state.readers.isEmpty else {
        state.results.append(result)
        return nil as CheckedContinuation<FileResult?, any Error>?
      }
      return state.readers.removeFirst()
    }
    reader?.resume(returning: result)
  }

  /// Waits until there is room for other results.
  @Sendable func room() async {
    await withCheckedContinuation { writer in
      let ready = state.withLock { state in
        state.writers.append(writer)
        return state.takeWriters()
      }
      for writer in ready { writer.resume() }
    }
  }

  /// Makes room for all results that follow.
  func makeRoom() {
    let ready = state.withLock { state in
      state.isUnlimited = true
      return state.takeWriters()
    }
    for writer in ready { writer.resume() }
  }

  /// Notes that no more results are added.
  func end(_ failure: (any Error)?) {
    let readers = state.withLock { state in
      state.isEnded = true
      if state.readers.isEmpty { state.failure = failure }
      defer { state.readers = [] }
      return state.readers
    }
    for reader in readers {
      if let failure { reader.resume(throwing: failure) } else { reader.resume(returning: nil) }
    }
  }

  /// The result that has waited for longest, or else the next one; nil if no result is left.
  ///
  /// - Throws: why the run could not go on, after the last result.
  func next(isolation actor: isolated (any Actor)?) async throws -> FileResult? {
    try await withCheckedThrowingContinuation { reader in
      let (next, writers) = state.withLock { state -> (Result<FileResult?, any Error>?, [CheckedContinuation<Void, Never>]) in
        if !state.results.isEmpty {
          let result = state.results.removeFirst()
          return (.success(result), state.takeWriters())
        }
        if let failure = state.failure.take() { return (.failure(failure), []) }
        if state.isEnded { return (.success(nil), []) }
        state.readers.append(reader)
        return (nil, [])
      }
      for writer in writers { writer.resume() }
      if let next { reader.resume(with: next) }
    }
  }
}
