import FormStreamPlatform

/// When a request is sent again, and how often: the state of its retry policy. The loop is asked once after each attempt.
///
/// `Attempt.decision` says whether the request may be sent again at all. Requests, downloads and batches have different
/// attempts; all of them count their attempts here.
package struct RetryLoop: Sendable {
  /// What follows an attempt that may be repeated.
  package enum Next: Sendable, Equatable {
    /// Another attempt, after a wait.
    case attempt(after: Duration)
    /// No attempt. The reason is a sentence for the error's message; nil if the error says enough.
    case end(reason: Message?)
  }

  /// A time in which a server that keeps an unfinished upload doesn't respond, or refuses to go on with the upload for now.
  package struct Outage: Sendable {
    /// When the first attempt failed.
    package let start: ContinuousClock.Instant
    /// How many attempts have failed.
    package var failures: Int
  }

  /// The longest random wait during an outage.
  private static let longestWaitInOutage = Duration.seconds(15)

  package let policy: RetryPolicy
  /// When the request was started.
  package let start: ContinuousClock.Instant
  /// How many attempts were made, including the last one. Some repetitions don't count.
  package var tries = 0
  /// The outage that the last attempt belongs to; nil if there is none.
  package private(set) var outage: Outage?
  /// The repetitions that all requests of a session share; nil if there is no such limit.
  private let budget: RetryBudget?

  package init(
    _ policy: RetryPolicy, budget: RetryBudget? = nil, start: ContinuousClock.Instant = .now
  ) {
    (self.policy, self.budget, self.start) = (policy, budget, start)
  }

  /// The time that is left to begin attempts; nil if there is no limit.
  var timeLeft: Duration? { policy.timeLimit.map { max($0 - start.duration(to: .now), .zero) } }

  /// Whether the time to begin attempts is over.
  package var isOverdue: Bool { policy.timeLimit.map { start.duration(to: .now) > $0 } ?? false }

  /// The policy for the next of several requests: with the attempts and the time that are left.
  var remainingPolicy: RetryPolicy {
    var rest = policy
    rest.attempts = max(policy.attempts - tries, 1)
    rest.timeLimit = timeLeft
    return rest
  }

  /// Notes that the server has received more of an upload: attempts are counted anew.
  mutating func noteProgress() {
    budget?.giveBack(tries)
    tries = 0
    outage = nil
  }

  /// Notes that a server that keeps an unfinished upload didn't respond to the last attempt, or refused it for now. The attempt doesn't
  /// count as a try, because the policy's patience is the limit.
  ///
  /// - Parameter tries: how many tries were counted for it.
  package mutating func noteOutage(insteadOf tries: Int = 1, now: ContinuousClock.Instant = .now) {
    self.tries -= tries
    outage = Outage(start: outage?.start ?? now, failures: (outage?.failures ?? 0) + 1)
  }

  /// Notes that the outage is over, or that attempts are the limit from now on.
  package mutating func endOutage() {
    outage = nil
  }

  /// How much longer a server is tried that doesn't respond; nil if attempts are the limit.
  package func patienceLeft(now: ContinuousClock.Instant = .now) -> Duration? {
    guard let outage, let patience = policy.patience else { return nil }
    // The time begins with the first failure.
    let left = outage.failures == 1 ? patience : max(patience - outage.start.duration(to: now), .zero)
    guard let limit = policy.timeLimit else { return left }
    return min(left, max(limit - start.duration(to: now), .zero))
  }

  /// Decides what follows an attempt that has just ended and may be repeated. Another attempt takes one repetition out of the
  /// session's budget, except in an outage.
  ///
  /// - Parameter retryAfter: how long the server asks to wait; nil if it names no time.
  package func next(retryAfter: Duration? = nil, now: ContinuousClock.Instant = .now) -> Next {
    if let outage, let patience = policy.patience { return next(in: outage, patience, retryAfter, now) }
    guard tries < policy.attempts else { return .end(reason: nil) }
    if let reason = refusal(of: retryAfter) { return .end(reason: reason) }
    let wait = Backoff.wait(before: tries + 1, policy, retryAfter: retryAfter)
    if let limit = policy.timeLimit, start.duration(to: .now) + wait > limit {
      return .end(reason: nil)
    }
    guard budget?.take() ?? true else { return .end(reason: nil) }
    return .attempt(after: wait)
  }

  /// Patience adds to the attempts, and takes none away.
  private func next(
    in outage: Outage, _ patience: Duration, _ retryAfter: Duration?, _ now: ContinuousClock.Instant
  ) -> Next {
    let tried = outage.start.duration(to: now)
    guard outage.failures < policy.attempts || tried < patience else {
      // Waits, and attempts themselves, may have taken longer than the patience.
      return .end(reason: .outageTooLong(max(patience, .seconds(tried.components.seconds))))
    }
    if let reason = refusal(of: retryAfter) { return .end(reason: reason) }
    var policy = policy
    policy.maximumDelay = min(policy.maximumDelay, Self.longestWaitInOutage)
    let wait = Backoff.wait(before: outage.failures + 1, policy, retryAfter: retryAfter)
    if let limit = policy.timeLimit, start.duration(to: now) + wait > limit {
      return .end(reason: .outageBeyondTimeLimit(limit))
    }
    return .attempt(after: wait)
  }

  /// Why no other attempt follows: the wait that the server asks for (`Retry-After`) is too long. Nil if the wait is not too
  /// long, or if the server asks for no wait.
  private func refusal(of retryAfter: Duration?) -> Message? {
    guard let retryAfter, retryAfter > .zero else { return nil }
    if retryAfter > policy.maximumRetryAfter {
      return .waitTooLong(retryAfter, limit: policy.maximumRetryAfter)
    }
    if let limit = policy.timeLimit, start.duration(to: .now) + retryAfter.bounded > limit {
      return .waitEndsTooLate(retryAfter, limit: limit)
    }
    return nil
  }
}

extension RetryLoop {
  /// How the wait for another attempt ends.
  enum Wait {
    /// Another attempt begins.
    case over
    /// No other attempt is allowed: the request ends with the verdict.
    case ended(AttemptDecision.Verdict)
    case cancelled
  }

  /// Waits until another attempt may begin.
  ///
  /// - Parameters:
  ///   - verdict: the verdict if there is no other attempt.
  ///   - announce: called before the wait, with its length.
  func wait(
    after verdict: AttemptDecision.Verdict, retryAfter: Duration? = nil,
    _ control: TransferControl, announce: (Duration) async -> Void
  ) async -> Wait {
    switch next(retryAfter: retryAfter) {
    case .end(let reason):
      var verdict = verdict
      if let reason { verdict.error = verdict.error?.adding(reason) }
      return .ended(verdict)
    case .attempt(let delay):
      await announce(delay)
      guard await control.sleep(delay) else { return .cancelled }
      // The wait took longer than planned if the process was suspended meanwhile.
      guard isOverdue else { return .over }
      var verdict = verdict
      if outage != nil, let limit = policy.timeLimit { verdict.error = verdict.error?.adding(.outageBeyondTimeLimit(limit)) }
      return .ended(verdict)
    }
  }
}
