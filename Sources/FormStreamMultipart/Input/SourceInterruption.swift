import FormStreamPlatform

/// Lets any thread interrupt the source that another thread reads.
package final class SourceInterruption: Sendable {
  private struct State {
    /// The source that is open and was not interrupted.
    var source: (any ByteSource)?
    var isInterrupted = false
  }

  private let state = Guarded(State())

  package init() {}

  /// Notes a source that was opened.
  func begin(_ source: any ByteSource) {
    state.withLock { state in
      if state.isInterrupted { source.interrupt() } else { state.source = source }
    }
  }

  /// Forgets the source, which can be closed afterwards.
  func end() {
    state.withLock { $0.source = nil }
  }

  /// Interrupts the source that is open, and all sources that are opened later.
  package func interrupt() {
    state.withLock { state in
      state.isInterrupted = true
      // The lock is held, so that the source isn't closed meanwhile. After it is closed, its descriptor number may
      // belong to another source.
      state.source.take()?.interrupt()
    }
  }
}
