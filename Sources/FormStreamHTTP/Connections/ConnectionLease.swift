import FormStreamPlatform

/// The connection that one request uses, or waits for.
final class ConnectionLease: Sendable {
  /// How waiting for a connection has ended.
  enum Ending {
    case taken
    /// The time was over, or the request was cancelled.
    case notTaken
    /// All requests that have connections only waited for the program.
    case heldUp
  }

  private let limit: ConnectionLimit?
  private let preferredEngine: Int
  private let priority: Int
  /// Whether the request gets a connection at once, because another request waits for this request.
  private let isWaitedFor: @Sendable () -> Bool
  private let slot = Guarded<ConnectionLimit.Slot?>(nil)
  /// Whether the request had a connection, to any origin, or continues what another request has begun.
  private let hasBegun: Guarded<Bool>

  /// - Parameters:
  ///   - engine: the index of the engine that is used if it has a connection left.
  ///   - place: the request's place among those that wait, before it has a connection.
  init(
    _ limit: ConnectionLimit?, on engine: Int, at place: ConnectionLimit.Place,
    isWaitedFor: @escaping @Sendable () -> Bool
  ) {
    self.limit = limit
    self.isWaitedFor = isWaitedFor
    hasBegun = Guarded(place.hasBegun)
    (preferredEngine, priority) = (engine, place.priority)
  }

  /// The index of the engine that has the connection.
  var engine: Int { slot.withLock { $0?.engine ?? preferredEngine } }

  /// Whether the connection is one more than the maximum.
  var isExtra: Bool { slot.withLock { $0?.isExtra ?? false } }

  /// When the connection last served the request; nil if there is no connection, or no maximum.
  var activity: ConnectionActivity? { slot.withLock { $0?.activity } }

  /// Takes a connection to an origin, and waits for the request's turn. A connection to another origin is given back.
  ///
  /// - Parameters:
  ///   - mayShare: whether other requests may use the connection at the same time.
  ///   - time: how long to wait; no limit if nil.
  ///   - patience: how long to wait while the requests that have the connections only wait for the program; no limit if nil.
  ///   - willWait: called if the request has to wait.
  nonisolated(nonsending) func take(
    _ origin: HTTPURL.Origin, mayShare: @escaping @Sendable () -> Bool, within time: Duration?,
    patience: Duration?, _ control: TransferControl, willWait: () -> Void
  ) async -> Ending {
    guard let limit else { return .taken }
    if let slot = slot.withLock(\.self) {
      let mayShare = mayShare()
      if slot.origin == origin, mayShare || !slot.isShared {
        if mayShare { share() }
        return .taken
      }
      release()
    }
    let taken =
      isWaitedFor()
      ? limit.takeExtra(origin, on: preferredEngine, mayShare: mayShare())
      : limit.take(origin, on: preferredEngine, mayShare: mayShare())
    if let taken {
      begin(with: taken)
      return .taken
    }
    willWait()
    var ticket: ConnectionLimit.Ticket?
    var watch: Task<Void, Never>?
    let isHeldUp = Guarded(false)
    let place = ConnectionLimit.Place(hasBegun: hasBegun.withLock(\.self), priority: priority)
    let waited = await control.wait(atMost: time) { accept in
      ticket = limit.wait(
        for: origin, on: preferredEngine, at: place, mayShare: mayShare, accept: accept)
      if let patience {
        watch = Task {
          if await limit.isHeldUp(origin, for: patience, control) {
            isHeldUp.withLock { $0 = true }
            _ = accept(nil)
          }
        }
      }
    }
    watch?.cancel()
    guard let waited else {
      if let ticket { limit.leave(ticket) }
      return isHeldUp.withLock(\.self) && !control.isCancelled ? .heldUp : .notTaken
    }
    begin(with: waited)
    return .taken
  }

  private func begin(with taken: ConnectionLimit.Slot) {
    slot.withLock { $0 = taken }
    hasBegun.withLock { $0 = true }
  }

  private func share() {
    guard let limit, var shared = slot.withLock(\.self), !shared.isShared else { return }
    limit.share(&shared)
    slot.withLock { [shared] in $0 = shared }
  }

  /// Gives the connection back.
  func release() {
    if let taken = slot.withLock({ $0.take() }) { limit?.release(taken) }
  }
}

extension ConnectionLimit {
  /// Waits until all connections to an origin have only waited for the program for as long as `patience`, while the request was
  /// not paused. Returns false if the task is cancelled before.
  fileprivate func isHeldUp(
    _ origin: HTTPURL.Origin, for patience: Duration, _ control: TransferControl
  ) async -> Bool {
    // The engines check their exchanges every 50 ms.
    var pause = max(patience, .milliseconds(100))
    var wasHeldUp = false
    while (try? await Task.sleep(for: pause)) != nil {
      let left = control.isPaused ? patience : patience - timeHeldUp(origin)
      let isHeldUp = left <= .zero
      if isHeldUp, wasHeldUp { return true }
      // If the process was suspended meanwhile, the exchanges were not checked either. So the loop waits for their next check.
      wasHeldUp = isHeldUp
      pause = isHeldUp ? .milliseconds(200) : max(left, .milliseconds(10))
    }
    return false
  }
}
