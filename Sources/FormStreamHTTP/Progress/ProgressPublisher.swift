import FormStreamMultipart
import FormStreamPlatform

/// Holds a request's progress, and reports it to any number of listeners.
final class ProgressPublisher: Sendable {
  private struct State {
    var current: TransferProgress
    var listeners: [Int: WaitingProgress] = [:]
    var nextListener = 0
    var lastReport: ContinuousClock.Instant?
    /// The counts at the last report.
    var lastCounts: (handedOver: Int64, received: Int64, readAhead: Int64) = (0, 0, 0)
    /// Whether the progress has been asked for.
    var isWatched = false
    var isFinished = false
  }

  private let state: Guarded<State>
  private let pace: ProgressPace
  private let start = ContinuousClock.now

  init(pace: ProgressPace, tag: (any Sendable)? = nil) {
    self.pace = .atMost(every: pace.interval.bounded)
    var current = TransferProgress()
    current.tag = tag
    state = Guarded(State(current: current))
  }

  var current: TransferProgress {
    state.withLock { state in
      state.isWatched = true
      return state.current
    }
  }

  /// Begins an attempt: sets the body that it sends, and with it the total.
  ///
  /// - Parameter phase: the new phase; nil if the phase doesn't change yet.
  func begin(_ layout: BodyLayout?, phase: TransferProgress.Phase? = nil) {
    change(isReportedAtOnce: true) { current in
      if let phase { current.phase = phase }
      current.layout = layout
      current.hasBody = layout != nil
      current.total = layout?.contentLength ?? (layout == nil ? 0 : nil)
      current.handedOverByAttempt = 0
      current.holdLastByte()
    }
  }

  /// Notes how many bytes of the body were read before it is sent.
  func note(read: Int64) {
    change(isReportedAtOnce: false) { $0.read = read }
  }

  /// Reports changes that came too soon after another report, because the source may have no further bytes for a long time.
  /// Runs until the task is cancelled.
  func reportLate() async {
    while (try? await Task.sleep(for: max(pace.interval, .milliseconds(50)))) != nil {
      change(isReportedAtOnce: false) { _ in }
    }
  }

  /// Whether the progress has been asked for.
  var isWatched: Bool { state.withLock { $0.isWatched } }

  /// Updates the counts. They never decrease, except for the last byte: a second attempt changes them only after it has passed
  /// the first attempt. See ``TransferProgress/handedOver``.
  ///
  /// - Parameter acknowledged: nil if it is not known.
  func advance(_ counts: TransferProgress.Counts, acknowledged: Int64?) {
    change(isReportedAtOnce: false) { current in
      if let phase = counts.phase { current.phase = phase }
      current.read = max(current.read, counts.read)
      current.handedOver = max(current.handedOver, counts.handedOver)
      current.handedOverByAttempt = max(current.handedOverByAttempt, counts.handedOver)
      // Without a connection the count is unknown, and the last count stays.
      if let acknowledged {
        current.acknowledged = max(
          current.acknowledged ?? 0, min(acknowledged, current.handedOver))
      }
      (current.received, current.responseTotal) = (counts.received, counts.responseTotal)
    }
  }

  /// Notes how many bytes of an upload the server keeps.
  func noteConfirmed(_ count: Int64) {
    update { current in
      current.acknowledged = max(current.acknowledged ?? 0, min(count, current.handedOver))
    }
  }

  /// Changes something other than the counts, and reports it at once.
  func update(_ body: (inout TransferProgress) -> Void) {
    change(isReportedAtOnce: true, body)
  }

  /// Reports the last state, and ends all listeners' sequences.
  func finish(_ body: (inout TransferProgress) -> Void) {
    change(isReportedAtOnce: true, body)
    let listeners = state.withLock { state in
      state.isFinished = true
      defer { state.listeners = [:] }
      return state.listeners.values.map(\.self)
    }
    for listener in listeners { listener.finish() }
  }

  /// The current state and later ones. For a listener that is too slow, only the newest state waits, or the newest 4,096
  /// states if the pace is `all`.
  func updates() -> ProgressListener {
    let listener = WaitingProgress(capacity: pace == .all ? 4096 : 1)
    let number = state.withLock { state in
      state.isWatched = true
      listener.add(state.current)
      defer { state.nextListener += 1 }
      if state.isFinished {
        listener.finish()
      } else {
        state.listeners[state.nextListener] = listener
      }
      return state.nextListener
    }
    return ProgressListener(listener) { [state] in
      state.withLock { $0.listeners[number] = nil }
    }
  }

  private func change(isReportedAtOnce: Bool, _ body: (inout TransferProgress) -> Void) {
    let now = ContinuousClock.now
    state.withLock { state in
      let phase = state.current.phase
      body(&state.current)
      let isReportedAtOnce = isReportedAtOnce || phase != state.current.phase
      state.current.elapsed = now - start
      // The counts are compared with the last report, not with the last change, so that the next report has a change that came
      // too soon after a report.
      let readAhead = phase == .reading ? state.current.read : 0
      let counts = (state.current.handedOver, state.current.received, readAhead)
      guard isReportedAtOnce || counts != state.lastCounts, !state.listeners.isEmpty else { return }
      if !isReportedAtOnce, let last = state.lastReport, now - last < pace.interval { return }
      (state.lastReport, state.lastCounts) = (now, counts)
      for listener in state.listeners.values { listener.add(state.current) }
    }
  }
}

extension ProgressPublisher {
  /// Passes states on, one after the other, to a closure that may block. So the closure doesn't run on Swift's shared threads:
  /// they are as few as the cores, and as many closures that block would stop everything else in the process.
  ///
  /// After the request was cancelled, only the last state is passed on: the request's result must not wait for states of the past.
  static func pass(
    _ updates: some AsyncSequence<TransferProgress, Never> & Sendable,
    to progress: @escaping TransferSession.ProgressHandler, of control: TransferControl
  ) async {
    for await update in updates where update.phase == .done || !control.isCancelled {
      await control.workers.perform { progress(update) }
    }
  }
}

extension TransferProgress {
  /// The progress that an attempt reports.
  struct Counts: Equatable {
    /// Nil if it hasn't changed.
    var phase: Phase?
    var read, handedOver, received: Int64
    var responseTotal: Int64?
  }
}
