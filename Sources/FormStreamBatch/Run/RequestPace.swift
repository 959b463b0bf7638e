import FormStreamPlatform
package import FormStreamHTTP

/// Decides when the next request may begin. It limits how many requests there are at the same time and how many begin in a
/// second. It makes all requests wait if the server is overloaded.
///
/// After a 429 or 503, half as many requests are allowed as before, but at least one. New requests wait until the time that
/// the server asked for. They also wait for a delay that doubles each time. With each success, the allowed number grows a
/// little, up to the original number.
package final class RequestPace: Sendable {
  private struct State {
    var active = 0
    /// How many requests are allowed at the same time.
    var allowed: Double
    /// The waiting tasks. The next task to resume is the last element.
    var waiting: [CheckedContinuation<Bool, Never>] = []
    /// No request begins before this moment.
    var notBefore = ContinuousClock.now
    /// When the next request may begin according to the limit of requests a second.
    var nextBegin = ContinuousClock.now
    var lastSlowing = ContinuousClock.now
    /// How many times in a row the server was overloaded.
    var slowings = 0
    var isStopped = false

    var hasRoom: Bool { Double(active) < allowed.rounded(.down) }

    mutating func takeWaiting() -> CheckedContinuation<Bool, Never>? {
      guard hasRoom, let next = waiting.popLast() else { return nil }
      active += 1
      return next
    }
  }

  private let maximum: Int
  private let interval: Duration?
  private let policy: RetryPolicy
  private let state: Guarded<State>

  /// - Parameters:
  ///   - maximum: how many requests there are at the same time.
  ///   - rate: how many requests may begin in a second; nil for no limit.
  ///   - policy: decides how long to wait if the server does not say how long.
  package init(maximum: Int, rate: Double?, policy: RetryPolicy) {
    self.maximum = maximum
    interval = rate.map { .seconds(1 / $0) }
    self.policy = policy
    state = Guarded(State(allowed: Double(maximum)))
  }

  /// Waits until a request may begin. Returns false if the pace was stopped, so that no request may begin.
  package func enter() async -> Bool {
    let isEntered = await withCheckedContinuation { continuation in
      let isEntered = state.withLock { state -> Bool? in
        if state.isStopped { return false }
        if state.hasRoom, state.waiting.isEmpty {
          state.active += 1
          return true
        }
        state.waiting.insert(continuation, at: 0)
        return nil
      }
      if let isEntered { continuation.resume(returning: isEntered) }
    }
    guard isEntered else { return false }
    let turn = takeTurn()
    while let wait = remainingWait(until: turn) {
      // Sleeps in short pieces, so that a stop is noticed.
      try? await Task.sleep(for: min(wait, .milliseconds(100)))
    }
    if state.withLock(\.isStopped) {
      leave()
      return false
    }
    return true
  }

  /// Notes that a request ended.
  package func leave() {
    let next = state.withLock { state in
      state.active -= 1
      return state.takeWaiting()
    }
    next?.resume(returning: true)
  }

  /// Notes that the server is overloaded. If several requests that were sent at the same time are refused, only the first
  /// refusal slows the pace.
  package func noteOverload(_ retryAfter: Duration?, begun: ContinuousClock.Instant) {
    let now = ContinuousClock.now
    state.withLock { state in
      if begun >= state.lastSlowing {
        state.lastSlowing = now
        state.slowings += 1
        state.allowed = max(1, (state.allowed / 2).rounded(.down))
        var generator = SystemRandomNumberGenerator()
        let wait = Backoff.wait(before: state.slowings + 1, policy, using: &generator)
        state.notBefore = max(state.notBefore, now + wait)
      }
      // If the server asks for a longer wait than the policy allows, the file is not sent again. The other files then wait
      // only for the time computed above.
      if let retryAfter, retryAfter <= policy.maximumRetryAfter {
        state.notBefore = max(state.notBefore, now + retryAfter.bounded)
      }
    }
  }

  /// Notes that the server responded and is not overloaded.
  package func noteSuccess() {
    let next = state.withLock { state in
      state.slowings = 0
      state.allowed = min(Double(maximum), state.allowed + 1 / state.allowed)
      return state.takeWaiting()
    }
    next?.resume(returning: true)
  }

  /// Stops the pace: no request begins from here on.
  package func stop() {
    let waiting = state.withLock { state in
      state.isStopped = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: false) }
  }

  /// How many requests may run at the same time now.
  package var allowed: Int { state.withLock { Int($0.allowed) } }
  /// How many requests are running.
  package var active: Int { state.withLock(\.active) }

  /// Whether requests are held back because the server is overloaded.
  package var isSlowed: Bool { state.withLock { $0.allowed < Double(maximum) } }

  /// Takes the next moment at which a request may begin, if there is a limit of requests a second.
  private func takeTurn() -> ContinuousClock.Instant {
    guard let interval else { return .now }
    return state.withLock { state in
      let turn = max(state.nextBegin, .now)
      state.nextBegin = turn + interval
      return turn
    }
  }

  private func remainingWait(until turn: ContinuousClock.Instant) -> Duration? {
    state.withLock { state in
      let wait = ContinuousClock.now.duration(to: max(turn, state.notBefore))
      return wait > .zero && !state.isStopped ? wait : nil
    }
  }
}
