import FormStreamMultipart
import FormStreamRecords
package import FormStreamTransfer

/// Tells on standard error how far a request is.
///
/// It is told of each step with `show`, and of time that passes with `tick`: a rate falls and a heartbeat is
/// due also where nothing moves. `follow` does both. Any thread may call it.
package final class ProgressDisplay: Sendable {
  /// What is over sooner has no bar: nothing flashes up.
  package static let patience = Duration.milliseconds(300)
  private static let redrawing = Duration.milliseconds(100)
  private static let recording = Duration.milliseconds(50)
  private static let beating = Duration.seconds(30)
  /// A record lists no more parts than this; of a longer form, the one that is under way.
  package static let maximumParts = 64

  private struct State {
    var track: ProgressTrack
    var updates: TransferProgressUpdates?
    var start: ContinuousClock.Instant?
    var lastOutput: ContinuousClock.Instant?
    /// Whether there is something that no record has told yet.
    var isNews = false
    var isOver = false
  }

  private let style: ProgressOutput
  private let stream: MessageStream
  private let now: @Sendable () -> ContinuousClock.Instant
  private let turn = Guarded(())
  /// Guarded by `turn`, which is taken before the stream's own.
  nonisolated(unsafe) private var state: State

  /// - Parameters:
  ///   - file: the name of the file that is the body, where the body is no form.
  ///   - stream: where it is told.
  ///   - now: the clock.
  package init(
    _ style: ProgressOutput, file: String? = nil, on stream: MessageStream = .standardError,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.style = style
    self.stream = stream
    self.now = now
    state = State(track: ProgressTrack(file: file))
  }

  /// Tells all of a request, up to its end. What it becomes is told by `finish`.
  package func follow(_ updates: TransferProgressUpdates) async {
    if style == .silence { return }
    withState { state, _ in state.updates = updates }
    await withTaskGroup { group in
      group.addTask { for await progress in updates { self.show(progress) } }
      group.addTask {
        // The last step before a silence may have been too close to the one before to be told.
        while (try? await Task.sleep(for: Self.redrawing)) != nil { self.show(updates.current) }
      }
      await group.next()
      group.cancelAll()
    }
  }

  /// Takes note of a step.
  package func show(_ progress: TransferProgress) {
    show(ProgressSnapshot(progress))
  }

  package func show(_ snapshot: ProgressSnapshot) {
    withState { state, time in
      state.start = state.start ?? time
      if state.track.note(snapshot, at: time) { state.isNews = true }
      tell(&state, at: time)
    }
  }

  /// Takes note of the time.
  package func tick() {
    withState { state, time in
      state.track.note(at: time)
      tell(&state, at: time)
    }
  }

  /// Tells the last state, and leaves the terminal as it was found: the cursor at the start of a line. Nothing
  /// is told after it.
  package func finish(_ last: TransferProgress?) {
    finish(last.map(ProgressSnapshot.init))
  }

  package func finish(_ last: ProgressSnapshot?) {
    withState { state, time in
      state.isOver = true
      if let last {
        if state.track.note(last, at: time) { state.isNews = true }
      }
      switch style {
      case .records:
        if state.isNews, state.track.latest != nil { record(&state, at: time) }
      case .bar, .heartbeat:
        stream.clearStatus()
        if last != nil, state.lastOutput != nil, let line = state.track.lastLine(at: time) {
          stream.write("formstream: \(line)")
        }
      case .silence: break
      }
    }
  }

  /// Ends the bar where others write to the same terminal from here on, such as the answer's body.
  package func yieldTerminal() {
    guard case .bar = style else { return }
    let latest = turn.withLock { _ in
      state.updates.map { ProgressSnapshot($0.current) } ?? state.track.latest
    }
    finish(latest)
  }

  private func withState(_ body: (inout State, ContinuousClock.Instant) -> Void) {
    turn.withLock { _ in
      if !state.isOver { body(&state, now()) }
    }
  }

  private func tell(_ state: inout State, at time: ContinuousClock.Instant) {
    guard let start = state.start, let shown = state.track.shown(at: time) else { return }
    switch style {
    case .bar(let isColored):
      guard time - start >= Self.patience, isDue(state, after: Self.redrawing, at: time) else {
        return
      }
      state.lastOutput = time
      stream.showStatus { ProgressBar.line(shown, columns: $0, isColored: isColored) }
    case .records:
      guard state.isNews, isDue(state, after: Self.recording, at: time) else { return }
      record(&state, at: time)
    case .heartbeat:
      guard time - (state.lastOutput ?? start) >= Self.beating else { return }
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

  private func record(_ state: inout State, at time: ContinuousClock.Instant) {
    guard let record = state.track.record(at: time) else { return }
    state.lastOutput = time
    state.isNews = false
    stream.write(record: record.json.line())
  }
}
