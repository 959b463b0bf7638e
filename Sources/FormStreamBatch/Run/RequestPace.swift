import FormStreamPlatform
package import FormStreamHTTP

/// Decides when the next request may begin. It limits how many requests there are at the same time and how many begin in a
/// second. It slows all requests down if the server is overloaded.
///
/// A single 429 or 503 doesn't mean that: only its own request waits. The server is overloaded if it refuses several requests
/// in a row, or half of many, or if it says how long to wait (`Retry-After`). Then one request at a time is allowed, which
/// waits until the time that the server asked for, and for a delay that doubles with each further refusal. After a response
/// that is no refusal, more are allowed: one more for each response up to half the number before, then slowly.
///
/// How many requests there may be at the same time is given, or is found by a ``ConcurrencySearch``.
package final class RequestPace: Sendable {
  private struct State {
    var active = 0
    /// How many of the running requests have large files.
    var activeLarge = 0
    /// How many requests there may be at the same time, unless the server is overloaded.
    var limit: Int
    /// How many requests are allowed now.
    var allowed: Double
    /// How long it takes from the beginning of a request to that of the next one, at least; nil for no limit.
    var interval: Duration?
    /// Finds ``limit``; nil if it was given.
    var search: ConcurrencySearch?
    /// The waiting tasks. The next task to resume is the last element.
    var waiting: [(task: CheckedContinuation<Bool, Never>, isLarge: Bool)] = []
    /// No request begins before this moment.
    var notBefore = ContinuousClock.now
    /// When the next request may begin according to the limit of requests a second.
    var nextBegin = ContinuousClock.now
    var lastSlowing = ContinuousClock.now
    /// How many times in a row the server was overloaded.
    var slowings = 0
    /// Up to this number, each response allows one more request.
    var quickGrowth: Double = 0
    var refusals = RecentRefusals()
    /// The first refusal after the last other response, and how many there have been; nil after another response.
    var allRefused: (since: ContinuousClock.Instant, count: Int)?
    var isStopped = false
    var isPaused = false

    /// If the number is found, there are few requests with large files: one of them fills a connection by itself.
    func hasRoom(forLarge isLarge: Bool) -> Bool {
      if search != nil, isLarge, activeLarge >= ConcurrencySearch.range.lowerBound { return false }
      return !isPaused && Double(active) < allowed.rounded(.down)
    }

    mutating func begin(isLarge: Bool) {
      active += 1
      if isLarge { activeLarge += 1 }
    }

    /// Takes the task that waits for longest, among those for which there is room: small files don't wait for large ones.
    mutating func takeWaiting() -> CheckedContinuation<Bool, Never>? {
      guard let index = waiting.lastIndex(where: { hasRoom(forLarge: $0.isLarge) }) else { return nil }
      let next = waiting.remove(at: index)
      begin(isLarge: next.isLarge)
      return next.task
    }

    /// Notes a response in the search.
    mutating func noteWork(_ bytes: Int64) {
      guard search != nil else { return }
      search?.note(bytes, now: .now)
      setLimit(search?.count ?? limit)
    }

    mutating func noteOverload() {
      search?.noteOverload(now: .now)
      setLimit(search?.count ?? limit)
    }

    mutating func setLimit(_ count: Int) {
      let isSlowed = allowed < Double(limit)
      limit = count
      allowed = isSlowed ? min(allowed, Double(count)) : Double(count)
    }

    mutating func takeAllWaiting() -> [CheckedContinuation<Bool, Never>] {
      var taken: [CheckedContinuation<Bool, Never>] = []
      while let next = takeWaiting() { taken.append(next) }
      return taken
    }
  }

  /// Files with more bytes are large.
  private static let largeFile: Int64 = 64 << 20

  /// How many refusals in a row, over how long a time, show that waiting is of no use.
  private static let patience = (count: 10, time: Duration.seconds(600))

  private let policy: RetryPolicy
  private let state: Guarded<State>

  /// - Parameters:
  ///   - maximum: how many requests there are at the same time.
  ///   - isFound: whether the number is found, up to the maximum.
  ///   - rate: how many requests may begin in a second; nil for no limit.
  ///   - policy: decides how long to wait if the server does not say how long.
  package init(maximum: Int, isFound: Bool = false, rate: Double?, policy: RetryPolicy) {
    self.policy = policy
    let search = isFound ? ConcurrencySearch(maximum: maximum, now: .now) : nil
    let limit = search?.count ?? maximum
    state = Guarded(State(limit: limit, allowed: Double(limit), interval: Self.interval(of: rate), search: search))
  }

  /// Waits until a request may begin. Returns false if the pace was stopped, so that no request may begin.
  ///
  /// - Parameter size: how many bytes the request has.
  package func enter(_ size: Int64 = 0) async -> Bool {
    let isLarge = size > Self.largeFile
    let isEntered = await withCheckedContinuation { continuation in
      let isEntered = state.withLock { state -> Bool? in
        if state.isStopped { return false }
        // Tasks for which there is room don't wait, so none is overtaken.
        if state.hasRoom(forLarge: isLarge) {
          state.begin(isLarge: isLarge)
          return true
        }
        state.waiting.insert((continuation, isLarge), at: 0)
        return nil
      }
      if let isEntered { continuation.resume(returning: isEntered) }
    }
    guard isEntered else { return false }
    guard await waitForTurn() else {
      leave(size)
      return false
    }
    return true
  }

  /// Waits until a request may begin in the place of a request that has ended and not left. Returns false if the pace was stopped,
  /// so that no request may begin.
  package func waitForTurn() async -> Bool {
    let turn = takeTurn()
    while let wait = remainingWait(until: turn) {
      // Sleeps in short pieces, so that a stop is noticed.
      try? await Task.sleep(for: min(wait, .milliseconds(100)))
    }
    return !state.withLock(\.isStopped)
  }

  /// Notes that a request ended.
  ///
  /// - Parameter size: how many bytes it has, as for `enter`.
  package func leave(_ size: Int64 = 0) {
    let ready = state.withLock { state in
      state.active -= 1
      if size > Self.largeFile { state.activeLarge -= 1 }
      return state.takeAllWaiting()
    }
    for task in ready { task.resume(returning: true) }
  }

  /// Notes a 429 or 503. If the server is overloaded, all requests wait. If several requests that were sent at the same time
  /// are refused, only the first refusal slows the pace.
  ///
  /// - Parameter retryAfter: how long the server asks to wait; nil if it names no time.
  /// - Returns: whether the server has refused everything for so long that a run should end.
  @discardableResult
  package func noteRefusal(
    _ retryAfter: Duration?, begun: ContinuousClock.Instant, now: ContinuousClock.Instant = .now
  ) -> Bool {
    state.withLock { state in
      state.refusals.note(isRefused: true)
      let earlier = state.allRefused ?? (now, 0)
      state.allRefused = (earlier.since, earlier.count + 1)
      let isHopeless =
        earlier.count >= Self.patience.count && earlier.since.duration(to: now) >= Self.patience.time
      let isOverloaded =
        retryAfter != nil || state.slowings > 0 || state.refusals.areMany(among: state.limit)
      guard isOverloaded else { return isHopeless }
      if begun >= state.lastSlowing || state.slowings == 0 {
        state.lastSlowing = now
        state.slowings += 1
        if state.slowings == 1 {
          state.noteOverload()
          state.quickGrowth = (state.allowed / 2).rounded(.down)
        }
        state.allowed = 1
        state.notBefore = max(state.notBefore, now + wait(after: state.slowings))
      }
      // If the server asks for a longer wait than the policy allows, the file is not sent again. The other files then wait
      // only for the time computed above.
      if let retryAfter, retryAfter <= policy.maximumRetryAfter {
        state.notBefore = max(state.notBefore, now + retryAfter.bounded)
      }
      return isHopeless
    }
  }

  /// How long all requests wait. The first time, one request finds out at once whether the server still refuses. Later, the
  /// wait is at least half of its bound, because a wait of nearly nothing would only be another refusal.
  private func wait(after slowings: Int) -> Duration {
    guard slowings > 1 else { return .zero }
    let bound = Backoff.bound(before: slowings, policy)
    return .milliseconds(Int64.random(in: bound / 2...bound))
  }

  /// Notes a response that is no refusal.
  ///
  /// - Parameter bytes: how many bytes the request has sent.
  package func noteResponse(_ bytes: Int64 = 0) {
    let ready = state.withLock { state in
      state.refusals.note(isRefused: false)
      state.slowings = 0
      state.allRefused = nil
      let growth = state.allowed < state.quickGrowth ? 1 : 1 / state.allowed
      state.allowed = min(Double(state.limit), state.allowed + growth)
      if state.allowed == Double(state.limit) { state.quickGrowth = 0 }
      state.noteWork(bytes)
      return state.takeAllWaiting()
    }
    for task in ready { task.resume(returning: true) }
  }

  /// Changes the limits. Requests that are running go on.
  package func change(maximum: Int, isFound: Bool, rate: Double?) {
    let ready = state.withLock { state in
      let isSame = isFound && state.search?.maximum == maximum
      if !isSame { state.search = isFound ? ConcurrencySearch(maximum: maximum, now: .now) : nil }
      state.setLimit(state.search?.count ?? maximum)
      state.interval = Self.interval(of: rate)
      return state.takeAllWaiting()
    }
    for task in ready { task.resume(returning: true) }
  }

  private static func interval(of rate: Double?) -> Duration? { rate.map { .seconds(1 / $0) } }

  /// Lets no request begin until `resume`.
  package func pause() { state.withLock { $0.isPaused = true } }

  /// Lets requests begin again.
  package func resume() {
    let ready = state.withLock { state in
      state.isPaused = false
      return state.takeAllWaiting()
    }
    for task in ready { task.resume(returning: true) }
  }

  /// Stops the pace: no request begins from here on.
  package func stop() {
    let waiting = state.withLock { state in
      state.isStopped = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for (task, _) in waiting { task.resume(returning: false) }
  }

  /// How many requests there may be at the same time, unless the server is overloaded.
  package var limit: Int { state.withLock(\.limit) }
  /// How many requests may run at the same time now.
  package var allowed: Int { state.withLock { Int($0.allowed) } }
  /// How many requests wait until they may begin.
  package var waiting: Int { state.withLock(\.waiting.count) }
  /// How many requests are running.
  package var active: Int { state.withLock(\.active) }

  /// Whether requests are held back because the server is overloaded.
  package var isSlowed: Bool { state.withLock { $0.allowed < Double($0.limit) } }

  /// Takes the next moment at which a request may begin, if there is a limit of requests a second.
  private func takeTurn() -> ContinuousClock.Instant {
    state.withLock { state in
      guard let interval = state.interval else { return .now }
      let turn = max(state.nextBegin, .now)
      state.nextBegin = turn + interval
      return turn
    }
  }

  private func remainingWait(until turn: ContinuousClock.Instant) -> Duration? {
    state.withLock { state in
      if state.isPaused, !state.isStopped { return .milliseconds(100) }
      let wait = ContinuousClock.now.duration(to: max(turn, state.notBefore))
      return wait > .zero && !state.isStopped ? wait : nil
    }
  }
}
