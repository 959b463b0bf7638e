import FormStreamMultipart

/// The connections there are, and the watch over their time: libmicrohttpd's own clock begins anew with every byte,
/// and does not run while a head comes.
final class Floor: Sendable {
  private struct State {
    var connections: [ObjectIdentifier: Connection] = [:]
    /// How many were let in that are no connections yet.
    var coming = 0
    /// When connections that are busy are cut off; nil until the receiver is stopped.
    var end: ContinuousClock.Instant?
  }

  private let limits: Receiver.Limits
  private let state = Guarded(State())
  private let alarm = AutoResetEvent()
  /// Rings when there may be room for another connection, or none is to come any more.
  private let room = AutoResetEvent()
  private let lastWords: Connection.LastWords

  init(_ limits: Receiver.Limits, lastWords: @escaping Connection.LastWords) {
    self.limits = limits
    self.lastWords = lastWords
  }

  /// Waits until there is room for one more, and takes it; false once the receiver is stopped.
  func admit() -> Bool {
    while true {
      let isAdmitted: Bool? = state.withLock { state in
        if state.end != nil { return false }
        guard state.connections.count + state.coming < limits.connections else { return nil }
        state.coming += 1
        return true
      }
      if let isAdmitted { return isAdmitted }
      // Where it has no memory for one, libmicrohttpd says neither that a connection begins nor that it ends: who
      // has not come by then will not.
      if !room.wait(atMost: .seconds(1)) { state.withLock { $0.coming = 0 } }
    }
  }

  /// Whoever was admitted did not come.
  func dismiss() {
    state.withLock { $0.coming = max(0, $0.coming - 1) }
    room.signal()
  }

  /// Waits until a connection has ended, or for a moment: what is missing may be others' to give back.
  func waitForRoom() {
    room.wait(atMost: .milliseconds(100))
  }

  func add(_ connection: Connection) {
    let isFirst = state.withLock { state in
      state.coming = max(0, state.coming - 1)
      state.connections[ObjectIdentifier(connection)] = connection
      return state.connections.count == 1
    }
    if isFirst { alarm.signal() }
  }

  func remove(_ connection: Connection) {
    state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    room.signal()
  }

  /// Lets those that are busy come to their end, but no longer than so.
  func close(within grace: Duration) {
    state.withLock { state in
      let end = ContinuousClock.now + grace
      state.end = min(end, state.end ?? end)
    }
    alarm.signal()
    room.signal()
  }

  /// Keeps watch until the receiver is stopped and no connection is busy any more.
  func watch(stopping: () -> Void) {
    var isStopping = false
    while true {
      let end = state.withLock(\.end)
      if end != nil, !isStopping {
        stopping()
        isStopping = true
      }
      // These are looked at behind that: a request that was begun in time is not missed.
      let connections = state.withLock { Array($0.connections.values) }
      if let end {
        let isOver = ContinuousClock.now >= end
        for connection in connections { connection.cut(evenIfBusy: isOver, saying: lastWords) }
        if isOver || !connections.contains(where: \.isBusy) { return }
      }
      for connection in connections { connection.cutIfLate(limits, saying: lastWords) }
      alarm.wait(atMost: isStopping ? .milliseconds(10) : connections.isEmpty ? nil : tick)
    }
  }

  /// How late a limit of time may be kept to.
  private var tick: Duration {
    max(
      .milliseconds(10),
      min(.seconds(1), min(limits.headTime, limits.idleTime, limits.responseTime) / 8))
  }
}
