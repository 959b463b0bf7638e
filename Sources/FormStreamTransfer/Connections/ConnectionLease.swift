import FormStreamPlatform

/// The connection that one request uses, or waits for.
final class ConnectionLease: Sendable {
  private let limit: ConnectionLimit?
  private let preferredEngine: Int
  private let slot = Guarded<ConnectionLimit.Slot?>(nil)

  /// - Parameter engine: the index of the engine that is used if it has a connection left.
  init(_ limit: ConnectionLimit?, on engine: Int) {
    self.limit = limit
    preferredEngine = engine
  }

  /// The index of the engine that has the connection.
  var engine: Int { slot.withLock { $0?.engine ?? preferredEngine } }

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
    if let slot = slot.withLock(\.self) {
      let mayShare = mayShare()
      if slot.origin == origin, mayShare || !slot.isShared {
        if mayShare { share() }
        return true
      }
      release()
    }
    if let taken = limit.take(origin, on: preferredEngine, mayShare: mayShare()) {
      slot.withLock { $0 = taken }
      return true
    }
    willWait()
    var ticket: ConnectionLimit.Ticket?
    let taken = await control.wait(atMost: time) { accept in
      ticket = limit.wait(for: origin, on: preferredEngine, mayShare: mayShare, accept: accept)
    }
    guard let taken else {
      if let ticket { limit.leave(ticket) }
      return false
    }
    slot.withLock { $0 = taken }
    return true
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
