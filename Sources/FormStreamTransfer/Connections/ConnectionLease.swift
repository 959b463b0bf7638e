import FormStreamPlatform

/// The connection that one request uses, or waits for.
final class ConnectionLease: Sendable {
  private struct State {
    var slot: ConnectionLimit.Slot?
    /// How long the request waited for the connection.
    var wait = Duration.zero
  }

  private let limit: ConnectionLimit?
  private let preferredEngine: Int
  private let state = Guarded(State())

  /// - Parameter engine: the index of the engine that is used if it has a connection left.
  init(_ limit: ConnectionLimit?, on engine: Int) {
    self.limit = limit
    preferredEngine = engine
  }

  /// The index of the engine that has the connection.
  var engine: Int { state.withLock { $0.slot?.engine ?? preferredEngine } }

  /// Takes a connection to an origin, and gives back that to another. Waits for its turn.
  ///
  /// - Parameters:
  ///   - mayShare: whether other requests may use the connection at the same time.
  ///   - time: how long to wait; no limit if nil.
  ///   - willWait: called if it has to wait.
  /// - Returns: false if the time is over, or the request was cancelled.
  func take(
    _ origin: HTTPURL.Origin, mayShare: @escaping @Sendable () -> Bool, within time: Duration?,
    _ control: TransferControl, willWait: () -> Void
  ) async -> Bool {
    guard let limit else { return true }
    if let slot = state.withLock(\.slot) {
      let mayShare = mayShare()
      if slot.origin == origin, mayShare || !slot.isShared {
        if mayShare { share() }
        return true
      }
      release()
    }
    if let slot = limit.take(origin, on: preferredEngine, mayShare: mayShare()) {
      state.withLock { $0.slot = slot }
      return true
    }
    willWait()
    let start = ContinuousClock.now
    var ticket: ConnectionLimit.Ticket?
    let slot = await control.wait(atMost: time) { accept in
      ticket = limit.wait(for: origin, on: preferredEngine, mayShare: mayShare, accept: accept)
    }
    guard let slot else {
      if let ticket { limit.leave(ticket) }
      return false
    }
    state.withLock { $0 = State(slot: slot, wait: start.duration(to: .now)) }
    return true
  }

  /// How long the request waited for its connection, when asked for the first time; then nothing.
  func takeWait() -> Duration {
    state.withLock { state in
      defer { state.wait = .zero }
      return state.wait
    }
  }

  private func share() {
    guard let limit, var slot = state.withLock(\.slot), !slot.isShared else { return }
    limit.share(&slot)
    state.withLock { [slot] in $0.slot = slot }
  }

  /// Gives the connection back.
  func release() {
    let slot = state.withLock { state in
      defer { state = State() }
      return state.slot
    }
    if let slot { limit?.release(slot) }
  }
}
