import FormStreamPlatform
import FormStreamRecords
package import FormStreamTransfer

/// Shows the progress of a request on standard error.
///
/// Call `show` for each step, and `tick` regularly: without a step, the rate still falls, and a heartbeat may be due.
/// `follow` does both. Any thread may call it.
package final class ProgressDisplay: Sendable {
  /// How long a request runs before the bar appears, so that short requests show no bar.
  package static let barDelay = Duration.milliseconds(300)
  private static let barInterval = Duration.milliseconds(100)
  private static let recordInterval = Duration.milliseconds(50)
  private static let heartbeatInterval = Duration.seconds(30)
  /// The most parts that a record lists. A record of a longer form lists only the part that is being sent.
  package static let maximumParts = 64

  private struct State {
    var track: ProgressTrack
    var updates: TransferProgressUpdates?
    var start: ContinuousClock.Instant?
    var lastOutput: ContinuousClock.Instant?
    /// Whether something has changed since the last record.
    var hasUnreportedChange = false
    var isFinished = false
  }

  private let style: ProgressOutput
  private let stream: MessageStream
  private let now: @Sendable () -> ContinuousClock.Instant
  /// Locked before the stream's own lock.
  private let state: Guarded<State>

  /// - Parameters:
  ///   - file: the name of the file that is the complete body; nil if the body is anything else.
  ///   - stream: where progress is shown.
  ///   - now: the clock.
  package init(
    _ style: ProgressOutput, file: String? = nil, on stream: MessageStream = .standardError,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.style = style
    self.stream = stream
    self.now = now
    state = Guarded(State(track: ProgressTrack(file: file)))
  }

  /// Shows the progress of a request up to its end. Its last state is shown by `finish`.
  package func follow(_ updates: TransferProgressUpdates) async {
    if style == .silence { return }
    withState { state, _ in state.updates = updates }
    await withTaskGroup { group in
      group.addTask { for await progress in updates { self.show(progress) } }
      group.addTask {
        // The last step before a pause may have come too soon after the one before to be shown.
        while (try? await Task.sleep(for: Self.barInterval)) != nil { self.show(updates.current) }
      }
      await group.next()
      group.cancelAll()
    }
  }

  /// Shows a step.
  package func show(_ progress: TransferProgress) {
    show(ProgressSnapshot(progress))
  }

  package func show(_ snapshot: ProgressSnapshot) {
    withState { state, time in
      state.start = state.start ?? time
      if state.track.update(snapshot, at: time) { state.hasUnreportedChange = true }
      display(&state, at: time)
    }
  }

  /// Updates everything that depends on the time.
  package func tick() {
    withState { state, time in
      state.track.updateRate(at: time)
      display(&state, at: time)
    }
  }

  /// Shows the last state, and leaves the cursor at the start of a line. Nothing is shown after that.
  package func finish(_ last: TransferProgress?) {
    finish(last.map(ProgressSnapshot.init))
  }

  package func finish(_ last: ProgressSnapshot?) {
    withState { state, time in
      state.isFinished = true
      if let last {
        if state.track.update(last, at: time) { state.hasUnreportedChange = true }
      }
      switch style {
      case .records:
        if state.hasUnreportedChange, state.track.latest != nil { writeRecord(&state, at: time) }
      case .bar, .heartbeat:
        stream.clearStatus()
        if last != nil, state.lastOutput != nil, let line = state.track.lastLine(at: time) {
          stream.write("formstream: \(line)")
        }
      case .silence: break
      }
    }
  }

  /// Ends the bar because something else is written to the terminal from now on, such as the response's body.
  package func yieldTerminal() {
    guard case .bar = style else { return }
    let latest = state.withLock { state in
      state.updates.map { ProgressSnapshot($0.current) } ?? state.track.latest
    }
    finish(latest)
  }

  private func withState(_ body: (inout State, ContinuousClock.Instant) -> Void) {
    state.withLock { state in
      if !state.isFinished { body(&state, now()) }
    }
  }

  private func display(_ state: inout State, at time: ContinuousClock.Instant) {
    guard let start = state.start, let shown = state.track.shown(at: time) else { return }
    switch style {
    case .bar(let isColored):
      guard time - start >= Self.barDelay, isDue(state, after: Self.barInterval, at: time) else {
        return
      }
      state.lastOutput = time
      stream.showStatus { ProgressBar.line(shown, columns: $0, isColored: isColored) }
    case .records:
      guard state.hasUnreportedChange, isDue(state, after: Self.recordInterval, at: time) else {
        return
      }
      writeRecord(&state, at: time)
    case .heartbeat:
      guard time - (state.lastOutput ?? start) >= Self.heartbeatInterval else { return }
      state.lastOutput = time
      stream.write("formstream: \(Heartbeat.line(shown))")
    case .silence: break
    }
  }

  private func isDue(
    _ state: State, after interval: Duration, at time: ContinuousClock.Instant
  ) -> Bool {
    state.lastOutput.map { time - $0 >= interval } ?? true
  }

  private func writeRecord(_ state: inout State, at time: ContinuousClock.Instant) {
    guard let record = state.track.record(at: time) else { return }
    state.lastOutput = time
    state.hasUnreportedChange = false
    stream.write(record: record.json.line())
  }
}
