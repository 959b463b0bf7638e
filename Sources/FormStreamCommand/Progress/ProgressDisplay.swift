import FormStreamPlatform
package import FormStreamHTTP

/// Shows the progress of a request on standard error.
///
/// Call `show` for each step, and `tick` regularly: without a step, the rate still falls, and a heartbeat may be due.
/// `follow` does both. Any thread may call these functions.
package final class ProgressDisplay: Sendable {
  /// The maximum number of parts that a record lists. A record of a longer form lists only the part that is being sent.
  package static let maximumParts = 64

  private struct State {
    var track: ProgressTrack
    var updates: TransferProgressUpdates?
    var printer: ProgressPrinter

    mutating func update(_ snapshot: ProgressSnapshot, at time: ContinuousClock.Instant) {
      printer.noteStep(isNew: track.update(snapshot, at: time), at: time)
    }

    mutating func display(at time: ContinuousClock.Instant) {
      if let view = track.view(at: time) { printer.show(view, at: time) }
    }
  }

  private let style: ProgressOutput
  private let stream: MessageStream
  private let now: @Sendable () -> ContinuousClock.Instant
  private let willFollow: (@Sendable (TransferProgressUpdates) -> Void)?
  /// This lock is taken before the stream's own lock.
  private let state: Guarded<State>

  /// - Parameters:
  ///   - file: the name of the file that is the complete body; nil if the body is anything else.
  ///   - isDownload: whether the received bytes are shown in place of the sent bytes.
  ///   - isForm: whether the body is a form.
  ///   - stream: where progress is shown.
  ///   - now: the clock.
  package init(
    _ style: ProgressOutput, file: String? = nil, isDownload: Bool = false, isForm: Bool = false,
    on stream: MessageStream = .standardError,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.style = style
    self.stream = stream
    self.now = now
    willFollow = nil
    state = Guarded(
      State(
        track: ProgressTrack(file: file, isDownload: isDownload, isForm: isForm),
        printer: ProgressPrinter(style, on: stream)))
  }

  /// A display that shows nothing, and passes on the progress of its request.
  init(passingOn willFollow: @escaping @Sendable (TransferProgressUpdates) -> Void) {
    (style, stream, self.willFollow) = (.silence, .standardError, willFollow)
    now = { ContinuousClock.now }
    state = Guarded(
      State(
        track: ProgressTrack(file: nil), printer: ProgressPrinter(.silence, on: .standardError)))
  }

  /// Shows the progress of a request up to its end, without its last state. `finish` shows the last state.
  package func follow(_ updates: TransferProgressUpdates) async {
    if style == .silence { return }
    withState { state, _ in state.updates = updates }
    await withTaskGroup { group in
      group.addTask { for await progress in updates { self.show(progress) } }
      group.addTask {
        // The last step before a pause is not shown yet if it came too soon after the step before it.
        while (try? await Task.sleep(for: ProgressPrinter.statusInterval)) != nil {
          self.show(updates.current)
        }
      }
      await group.next()
      group.cancelAll()
    }
  }

  /// Waits for a request, and shows its progress up to its last state.
  ///
  /// - Parameter hasSucceeded: whether everything was received.
  func follow<Ended: Sendable>(
    _ updates: TransferProgressUpdates, until ended: @escaping @Sendable () async -> Ended,
    hasSucceeded: (Ended) -> Bool
  ) throws(Failure) -> Ended {
    willFollow?(updates)
    let result = try runBlocking { () async throws(Failure) in
      async let displayed: Void = self.follow(updates)
      let result = await ended()
      await displayed
      return result
    }
    var last = ProgressSnapshot(updates.current)
    last.hasFailed = !hasSucceeded(result)
    finish(last)
    return result
  }

  /// Shows a step.
  package func show(_ progress: TransferProgress) {
    show(ProgressSnapshot(progress))
  }

  /// Shows a step, but not the last one: `finish` knows more about the last one.
  package func show(_ snapshot: ProgressSnapshot) {
    if snapshot.phase == .done { return }
    withState { state, time in
      state.update(snapshot, at: time)
      state.display(at: time)
    }
  }

  /// Updates everything that depends on the time.
  package func tick() {
    withState { state, time in
      state.track.updateRate(at: time)
      state.display(at: time)
    }
  }

  /// Shows the last state, and leaves the cursor at the start of a line. Nothing is shown afterwards.
  package func finish(_ last: TransferProgress?) {
    finish(last.map(ProgressSnapshot.init))
  }

  package func finish(_ last: ProgressSnapshot?) {
    withState { state, time in
      if let last { state.update(last, at: time) }
      let view = state.track.view(at: time)
      state.printer.finish(view, at: time)
      guard style != .records, last != nil, state.printer.hasShown, let line = view?.lastLine
      else { return }
      stream.write("formstream: \(line)")
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
      if !state.printer.isFinished { body(&state, now()) }
    }
  }
}
