import FormStream
import Foundation
import FormStreamMultipart

/// Where a request's progress is written, and read by whoever wants to know.
final class ProgressBoard: Sendable {
  private struct State {
    var current: TransferProgress
    var listeners: [Int: AsyncStream<TransferProgress>.Continuation] = [:]
    var nextListener = 0
    var lastReport: ContinuousClock.Instant?
    var isOver = false
  }

  private let state: Guarded<State>
  private let pace: ProgressPace
  private let start = ContinuousClock.now

  init(pace: ProgressPace) {
    self.pace = pace
    state = Guarded(State(current: TransferProgress(layout: nil)))
  }

  var current: TransferProgress { state.withLock(\.current) }

  /// The body's total is known from here on.
  func begin(_ layout: BodyLayout?) {
    change(isNews: true) { current in
      current = TransferProgress(layout: layout)
      current.total = layout?.contentLength ?? (layout == nil ? 0 : nil)
    }
  }

  /// Counts never go back: a second attempt is ahead of the first, or not yet.
  func advance(
    _ phase: TransferProgress.Phase?, read: Int64, handedOver: Int64, acknowledged: Int64?,
    received: Int64
  ) {
    change(isNews: false) { current in
      if let phase { current.phase = phase }
      current.read = max(current.read, read)
      current.handedOver = max(current.handedOver, handedOver)
      // Between two attempts nobody can be asked: what was confirmed, was.
      if let acknowledged {
        current.acknowledged = max(current.acknowledged ?? 0, min(acknowledged, current.handedOver))
      }
      current.received = received
    }
  }

  /// Notes what is not counted; told at once.
  func update(_ body: (inout TransferProgress) -> Void) {
    change(isNews: true, body)
  }

  /// Tells the last state, and ends all loops.
  func finish(_ body: (inout TransferProgress) -> Void) {
    change(isNews: true, body)
    let listeners = state.withLock { state in
      state.isOver = true
      defer { state.listeners = [:] }
      return state.listeners.values.map(\.self)
    }
    for listener in listeners { listener.finish() }
  }

  /// What is and what comes. A listener that is slower than what happens gets the latest of it.
  func updates() -> AsyncStream<TransferProgress> {
    let buffering: AsyncStream<TransferProgress>.Continuation.BufferingPolicy =
      .bufferingNewest(pace == .all ? 4096 : 64)
    let (stream, continuation) = AsyncStream.makeStream(
      of: TransferProgress.self, bufferingPolicy: buffering)
    let (number, isOver) = state.withLock { state in
      continuation.yield(state.current)
      defer { state.nextListener += 1 }
      if !state.isOver { state.listeners[state.nextListener] = continuation }
      return (state.nextListener, state.isOver)
    }
    if isOver {
      continuation.finish()
    } else {
      continuation.onTermination = { [state] _ in
        state.withLock { state in state.listeners[number] = nil }
      }
    }
    return stream
  }

  private func change(isNews: Bool, _ body: (inout TransferProgress) -> Void) {
    let now = ContinuousClock.now
    state.withLock { state in
      let before = (state.current.handedOver, state.current.received)
      let phase = state.current.phase
      body(&state.current)
      let isNews = isNews || phase != state.current.phase
      state.current.elapsed = now - start
      let hasMoved = before != (state.current.handedOver, state.current.received)
      guard isNews || hasMoved, !state.listeners.isEmpty else { return }
      if !isNews, let last = state.lastReport, now - last < pace.interval { return }
      state.lastReport = now
      for listener in state.listeners.values { listener.yield(state.current) }
    }
  }
}
