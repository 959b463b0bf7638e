import FormStreamPlatform

/// The open connections, and the monitor that enforces their time limits. libmicrohttpd's own timeout starts again
/// with every byte, and does not run while a request's head arrives.
final class ConnectionTable: Sendable {
  private struct State {
    var connections: [ObjectIdentifier: Connection] = [:]
    /// Slots reserved for connections that are not in the table yet.
    var reserved = 0
    /// When busy connections are cut off; nil until the receiver is stopped.
    var deadline: ContinuousClock.Instant?
  }

  private let limits: Receiver.Limits
  private let state = Guarded(State())
  private let wakeMonitor = AutoResetEvent()
  /// Signalled when a slot may be free, and when the receiver is stopped.
  private let slotFreed = AutoResetEvent()
  private let refusalResponse: Connection.RefusalResponse

  init(_ limits: Receiver.Limits, refusalResponse: @escaping Connection.RefusalResponse) {
    self.limits = limits
    self.refusalResponse = refusalResponse
  }

  /// Waits for room for one more connection and reserves it; returns false once the receiver is stopped.
  func reserveSlot() -> Bool {
    while true {
      let isReserved: Bool? = state.withLock { state in
        if state.deadline != nil { return false }
        guard state.connections.count + state.reserved < limits.connections else { return nil }
        state.reserved += 1
        return true
      }
      if let isReserved { return isReserved }
      // If libmicrohttpd has no memory for a connection, it reports neither its start nor its end. A reserved slot
      // that is unused after a second is therefore free again.
      if !slotFreed.wait(atMost: .seconds(1)) { state.withLock { $0.reserved = 0 } }
    }
  }

  /// Releases a reserved slot that no connection used.
  func releaseSlot() {
    state.withLock { $0.reserved = max(0, $0.reserved - 1) }
    slotFreed.signal()
  }

  /// Waits until a connection ends, or for a moment: other programs may release the missing resource.
  func waitForRoom() {
    slotFreed.wait(atMost: .milliseconds(100))
  }

  /// Adds a connection, which uses a reserved slot.
  func add(_ connection: Connection) {
    let isFirst = state.withLock { state in
      state.reserved = max(0, state.reserved - 1)
      state.connections[ObjectIdentifier(connection)] = connection
      return state.connections.count == 1
    }
    if isFirst { wakeMonitor.signal() }
  }

  func remove(_ connection: Connection) {
    state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    slotFreed.signal()
  }

  /// Gives busy connections at most `grace` to finish. A later call can only shorten that time.
  func close(within grace: Duration) {
    state.withLock { state in
      let deadline = ContinuousClock.now + grace
      state.deadline = min(deadline, state.deadline ?? deadline)
    }
    wakeMonitor.signal()
    slotFreed.signal()
  }

  /// Enforces the time limits until the receiver is stopped and no connection is busy.
  ///
  /// - Parameter onStop: called once, when the receiver is stopped.
  func monitor(onStop: () -> Void) {
    var isStopping = false
    while true {
      let deadline = state.withLock(\.deadline)
      if deadline != nil, !isStopping {
        onStop()
        isStopping = true
      }
      // The list is read after `onStop`, so that it contains every request that began before.
      let connections = state.withLock { Array($0.connections.values) }
      if let deadline {
        let isOver = ContinuousClock.now >= deadline
        for connection in connections {
          connection.cut(evenIfBusy: isOver, sending: refusalResponse)
        }
        if isOver || !connections.contains(where: \.isBusy) { return }
      }
      for connection in connections { connection.cutIfLate(limits, sending: refusalResponse) }
      wakeMonitor.wait(
        atMost: isStopping ? .milliseconds(10) : connections.isEmpty ? nil : interval)
    }
  }

  /// How late a time limit may be enforced.
  private var interval: Duration {
    max(
      .milliseconds(10),
      min(.seconds(1), min(limits.headTime, limits.idleTime, limits.responseTime) / 8))
  }
}
