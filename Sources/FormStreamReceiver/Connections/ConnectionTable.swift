import FormStreamPlatform

/// The open connections, and the monitor that enforces their time limits. libmicrohttpd's own timeout starts again
/// with every byte, and does not run while a request's head arrives.
final class ConnectionTable: Sendable {
  private struct State {
    var connections: [ObjectIdentifier: Connection] = [:]
    /// Connections that were accepted and are not in the table yet.
    var arriving: [Arrival] = []
    /// Set when the receiver is stopped.
    var stop: Stop?
  }

  private struct Arrival {
    let network: SocketAddress.Network
    let time = ContinuousClock.now
  }

  private struct Stop {
    /// When idle connections are closed. Until then they can send a request that was on its way, and get a response.
    let idleEnd: ContinuousClock.Instant
    /// When busy connections are cut off.
    var deadline: ContinuousClock.Instant
  }

  /// How long an idle connection stays open after the receiver is stopped. A request that is on its way arrives sooner.
  private static let idleGrace = Duration.seconds(1)

  private let limits: Receiver.Limits
  /// The most connections at once.
  private let maximum: Int
  private let state = Guarded(State())
  private let wakeMonitor = AutoResetEvent()
  /// Signalled when there may be room, and when the receiver is stopped.
  private let roomFreed = AutoResetEvent()

  /// - Parameter freeDescriptors: how many descriptors connections and their uploads may use.
  init(_ limits: Receiver.Limits, freeDescriptors: Int) {
    self.limits = limits
    // Each connection has a socket, and a file for its upload. If others took their descriptors, uploads in progress
    // would fail.
    maximum = max(1, min(limits.connections, freeDescriptors / 2))
  }

  /// Waits for room for one more connection, which is made as soon as a connection can be spared. Returns false once
  /// the receiver is stopped.
  func waitForRoom() -> Bool {
    while true {
      let hasRoom: Bool? = state.withLock { state in
        if state.stop != nil { return false }
        // If libmicrohttpd has no memory for a connection, it reports neither its start nor its end.
        state.arriving.removeAll { ContinuousClock.now - $0.time >= .seconds(1) }
        return state.connections.count + state.arriving.count < maximum ? true : nil
      }
      if let hasRoom { return hasRoom }
      makeRoom()
      roomFreed.wait(atMost: Self.retryInterval)
    }
  }

  /// Waits until a connection ends, or for a moment: descriptors or memory are missing, and other programs may release
  /// them too.
  func waitForResources() {
    makeRoom()
    roomFreed.wait(atMost: Self.retryInterval)
  }

  private static let retryInterval = Duration.milliseconds(100)

  /// Cuts off the connection that can best be spared, unless one is on its way out.
  private func makeRoom() {
    let connections = rated { _ in true }
    if !connections.contains(where: { $0.spareability == .leaving }) { cutOne(of: connections) }
  }

  private typealias Rated = (connection: Connection, spareability: Connection.Spareability)

  private func rated(_ isIncluded: (Connection) -> Bool) -> [Rated] {
    state.withLock { $0.connections.values.filter(isIncluded) }.map {
      (connection: $0, spareability: $0.spareability(limits))
    }
  }

  /// Returns false if none of the connections can be spared.
  @discardableResult private func cutOne(of connections: [Rated]) -> Bool {
    connections.max { $0.spareability < $1.spareability }?.connection.cutIfSpareable(limits)
      ?? false
  }

  /// Reserves room for an accepted connection. Returns false if its address has too many that can't be spared.
  func reserve(for address: SocketAddress) -> Bool {
    let network = address.network
    let others = rated { $0.network == network }.filter { $0.spareability != .leaving }
    let arriving = state.withLock { $0.arriving.count { $0.network == network } }
    if others.count + arriving >= maximum(for: address), !cutOne(of: others) { return false }
    state.withLock { $0.arriving.append(Arrival(network: network)) }
    return true
  }

  /// The most connections of an address. This machine's own may be those of a proxy, so they have no bound by default.
  private func maximum(for address: SocketAddress) -> Int {
    limits.connectionsPerAddress ?? (address.isLoopback ? maximum : max(1, maximum * 3 / 4))
  }

  /// Adds a connection, for which room is reserved.
  func add(_ connection: Connection) {
    let isFirst = state.withLock { state in
      if let index = state.arriving.firstIndex(where: { $0.network == connection.network }) {
        state.arriving.remove(at: index)
      }
      state.connections[ObjectIdentifier(connection)] = connection
      return state.connections.count == 1
    }
    if isFirst { wakeMonitor.signal() }
  }

  func remove(_ connection: Connection) {
    state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    roomFreed.signal()
    // The receiver may be waiting for the last one.
    if state.withLock({ $0.stop != nil }) { wakeMonitor.signal() }
  }

  /// Gives busy connections at most `grace` to finish. A later call can only shorten that time.
  func close(within grace: Duration) {
    state.withLock { state in
      let deadline = ContinuousClock.now + grace.bounded
      state.stop = Stop(
        idleEnd: state.stop?.idleEnd ?? .now + Self.idleGrace,
        deadline: min(deadline, state.stop?.deadline ?? deadline))
    }
    wakeMonitor.signal()
    roomFreed.signal()
  }

  /// Enforces the time limits until the receiver is stopped and no connection is busy.
  ///
  /// - Parameter onStop: called once, when the receiver is stopped.
  func monitor(onStop: () -> Void) {
    var isStopping = false
    while true {
      let stop = state.withLock(\.stop)
      if stop != nil, !isStopping {
        onStop()
        isStopping = true
      }
      // The list is read after `onStop`, so that it contains every request that began before.
      let (connections, isArriving) = state.withLock {
        (Array($0.connections.values), !$0.arriving.isEmpty)
      }
      if let stop {
        let isOver = ContinuousClock.now >= stop.deadline
        let isIdleOver = isOver || ContinuousClock.now >= stop.idleEnd
        if isIdleOver {
          for connection in connections { connection.cut(evenIfBusy: isOver) }
        }
        if isOver || connections.isEmpty && !isArriving { return }
        if isIdleOver, !connections.contains(where: \.isBusy) { return }
      }
      for connection in connections { connection.cutIfLate(limits) }
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
