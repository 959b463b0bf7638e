package import FormStreamBatch
import FormStreamPlatform

/// Shows the progress of a batch on standard error. Any thread may call it.
package final class BatchDisplay: Sendable {
  private struct State {
    var track = BatchTrack()
    var printer: ProgressPrinter
  }

  private let style: ProgressOutput
  private let now: @Sendable () -> ContinuousClock.Instant
  /// This lock is taken before the stream's own lock.
  private let state: Guarded<State>

  package init(
    _ style: ProgressOutput, on stream: MessageStream = .standardError,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.style = style
    self.now = now
    state = Guarded(State(printer: ProgressPrinter(style, on: stream)))
  }

  /// Shows the progress until the task is cancelled.
  ///
  /// - Parameter progress: returns nil if there is nothing to show yet.
  func follow(_ progress: @Sendable () -> BatchProgress?) async {
    guard style != .silence else { return }
    // Between two heartbeats, only the rate needs the progress, so an update every second is
    // enough.
    let interval = style == .heartbeat ? Duration.seconds(1) : ProgressPrinter.statusInterval
    repeat {
      if let snapshot = progress() { show(snapshot) }
    } while (try? await Task.sleep(for: interval)) != nil
  }

  package func show(_ snapshot: BatchProgress) {
    state.withLock { state in
      guard !state.printer.isFinished else { return }
      let time = now()
      state.printer.noteStep(isNew: state.track.update(snapshot, at: time), at: time)
      if let view = state.track.view(at: time) { state.printer.show(view, at: time) }
    }
  }

  /// Erases the status, or writes the last record. Nothing is shown after that.
  ///
  /// - Parameter last: nil if nothing has begun.
  package func finish(_ last: BatchProgress?) {
    state.withLock { state in
      let time = now()
      if let last { state.printer.noteStep(isNew: state.track.update(last, at: time), at: time) }
      state.printer.finish(state.track.view(at: time), at: time)
    }
  }
}
