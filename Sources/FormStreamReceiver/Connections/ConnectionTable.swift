import FormStreamPlatform

/// The open connections, and the monitor that enforces their time limits. libmicrohttpd's own timeout starts again
/// with every byte, and does not run while a request's head arrives.
final class ConnectionTable: Sendable {
  private struct State {
    var connections: [ObjectIdentifier: Connection] = [:]
    /// Connections that were accepted and are not in the table yet, by the numbers of their sockets.
    var arriving: [CInt: Arrival] = [:]
    /// Whether clients are still accepted.
    var isAccepting = true
    /// Whether a client waits because all connections are in use.
    var hasWaitingClient = false
    /// Set when the receiver is stopped.
    var stop: Stop?

    /// Whether libmicrohttpd has accepted a connection but not begun to serve it.
    var hasArriving: Bool { arriving.values.contains { !$0.isLost } }

    /// Forgets the connections that libmicrohttpd will never begin to serve, so that other connections get their room.
    mutating func dropLost() { arriving = arriving.filter { !$0.value.isLost } }

    /// The number of refused connections, or of served connections if `isRefused` is false.
    func count(isRefused: Bool) -> Int {
      connections.values.count { ($0.refusal != nil) == isRefused }
        + arriving.values.count { ($0.refusal != nil) == isRefused }
    }
  }

  private struct Arrival {
    let network: SocketAddress.Network
    let refusal: UploadRefusal?
    let time = ContinuousClock.now

    /// Whether the connection has waited so long that libmicrohttpd will never begin to serve it. If libmicrohttpd has no
    /// memory for a connection, it reports neither the connection's start nor its end.
    var isLost: Bool { .now - time >= .seconds(10) }
  }

  private struct Stop {
    /// When idle connections are closed. Until then, a request that was on its way can arrive and get a response.
    let idleEnd: ContinuousClock.Instant
    /// When busy connections are cut off.
    var deadline: ContinuousClock.Instant
  }

  /// How long an idle connection stays open after the receiver is stopped, if the receiver can't send the client a response
  /// about the stop. A request that is on its way will arrive within this time.
  private static let idleGrace = Duration.seconds(1)
  /// How late the monitor may wake up on a busy machine. If it wakes up later than this, the receiver's process did not run
  /// for a while.
  private static let usualDelay = Duration.milliseconds(500)

  private let limits: Receiver.Limits
  /// The most connections at once.
  private let maximum: Int
  /// How many connections there may be in addition to `maximum`. The clients of these connections only get a refusal.
  private let maximumRefused: Int
  private let state = Guarded(State())
  private let wakeMonitor = AutoResetEvent()
  /// Signaled when there may be room, and when the receiver is stopped.
  private let roomFreed = AutoResetEvent()

  /// The most connections at once whose clients are refused, if there are enough descriptors.
  static let mostRefused = 32

  /// - Parameters:
  ///   - freeDescriptors: how many descriptors connections and their uploads may use.
  ///   - each: how many of them one connection and its upload may use. If other connections took these descriptors, uploads in
  ///     progress would fail.
  init(_ limits: Receiver.Limits, freeDescriptors: Int, each: Int) {
    self.limits = limits
    // If few descriptors are free, most of them are needed by the connections that are served.
    let unneeded = freeDescriptors - each * min(limits.connections, 1 << 20)
    maximumRefused = max(0, min(Self.mostRefused, max(freeDescriptors / 8, unneeded)))
    maximum = max(1, min(limits.connections, (freeDescriptors - maximumRefused) / each))
  }

  /// Waits for room for one more connection. Room is made as soon as another connection can be spared. After the receiver
  /// is stopped, the method waits for room to refuse a client.
  func waitForRoom() {
    while true {
      let hasRoom = state.withLock { state in
        state.dropLost()
        guard let stop = state.stop else {
          state.hasWaitingClient = state.count(isRefused: false) >= maximum
          return !state.hasWaitingClient
        }
        return .now >= stop.deadline || state.count(isRefused: true) < max(1, maximumRefused)
      }
      if hasRoom { return }
      makeRoom()
      roomFreed.wait(atMost: Self.retryInterval)
    }
  }

  /// Whether a client waits because all connections are in use. While this is true, each connection is closed after its
  /// response: a connection that is used again and again would never be idle.
  var hasWaitingClient: Bool { state.withLock(\.hasWaitingClient) }

  /// Waits until there may be descriptors and memory again. The wait ends when a connection ends, or after a short time,
  /// because other programs may release descriptors or memory too.
  func waitForResources() {
    makeRoom()
    roomFreed.wait(atMost: Self.retryInterval)
  }

  private static let retryInterval = Duration.milliseconds(100)

  /// Cuts off the connection that can best be spared, unless a connection is being closed already.
  private func makeRoom() {
    let isStopping = state.withLock { $0.stop != nil }
    let connections = rated { ($0.refusal != nil) == isStopping }
    if !connections.contains(where: { $0.spareability == .leaving }) { cutOne(of: connections) }
  }

  private typealias Rated = (connection: Connection, spareability: Connection.Spareability)

  private func rated(_ isIncluded: (Connection) -> Bool) -> [Rated] {
    state.withLock { $0.connections.values.filter(isIncluded) }.map {
      (connection: $0, spareability: $0.spareability(limits))
    }
  }

  /// Cuts off the connection that can best be spared. Returns false if none of the connections can be spared.
  @discardableResult private func cutOne(of connections: [Rated]) -> Bool {
    connections.max { $0.spareability < $1.spareability }?.connection.cutIfSpareable(limits)
      ?? false
  }

  /// Reserves room for an accepted connection. If its address has too many connections that can't be spared, or the
  /// receiver is stopped, its client will be refused. Returns false if there is not even room to refuse the client.
  func reserve(for address: SocketAddress, socket: CInt) -> Bool {
    let network = address.network
    let isStopping = state.withLock { $0.stop != nil }
    let refusal =
      isStopping ? UploadRefusal.receiverStops : hasRoom(for: address) ? nil : .tooManyConnections
    if refusal != nil, state.withLock({ $0.count(isRefused: true) }) >= maximumRefused,
      maximumRefused == 0 || !cutOne(of: rated { $0.refusal != nil })
    {
      return false
    }
    state.withLock { $0.arriving[socket] = Arrival(network: network, refusal: refusal) }
    return true
  }

  /// Whether the address may have one more connection that is served. Connections that were ended by their client don't count.
  /// If the address has too many connections, one that can be spared is cut off to make room.
  private func hasRoom(for address: SocketAddress) -> Bool {
    let network = address.network
    var others = rated { $0.refusal == nil && $0.network == network }.filter {
      $0.spareability != .leaving
    }
    let arriving = state.withLock {
      $0.arriving.values.count { $0.refusal == nil && $0.network == network }
    }
    if others.count + arriving < maximum(for: address) { return true }
    others.removeAll(where: \.connection.isAbandoned)
    return others.count + arriving < maximum(for: address) || cutOne(of: others)
  }

  /// Gives back the room that was reserved for a connection, if libmicrohttpd did not take the connection.
  func giveBack(socket: CInt) {
    state.withLock { $0.arriving[socket] = nil }
    roomFreed.signal()
  }

  /// Why the client of an accepted connection is refused; nil if the client is served.
  func refusal(ofSocket socket: CInt) -> UploadRefusal? {
    state.withLock { $0.arriving[socket]?.refusal }
  }

  /// The most connections of an address. Connections from this machine may come from a proxy, so by default they may take up
  /// all connections.
  private func maximum(for address: SocketAddress) -> Int {
    limits.connectionsPerAddress ?? (address.isLoopback ? maximum : max(1, maximum * 3 / 4))
  }

  /// Adds a connection for which room was reserved.
  func add(_ connection: Connection, socket: CInt) {
    let isFirst = state.withLock { state in
      state.arriving[socket] = nil
      state.connections[ObjectIdentifier(connection)] = connection
      return state.connections.count == 1
    }
    if isFirst { wakeMonitor.signal() }
  }

  func remove(_ connection: Connection) {
    state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    roomFreed.signal()
    // The receiver may be waiting for the last connection to end.
    if state.withLock({ $0.stop != nil }) { wakeMonitor.signal() }
  }

  /// Notes that no more clients are accepted.
  func endAccepting() {
    state.withLock { $0.isAccepting = false }
    wakeMonitor.signal()
  }

  /// Gives busy connections at most `grace` to finish. A later call can only shorten the time.
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
  /// - Parameters:
  ///   - socket: the socket that clients connect to. After the stop, clients that wait there are accepted, so that each gets a
  ///     refusal. The socket is closed afterwards, because closing it resets all connections that still wait.
  ///   - makeLastResponse: makes the response that clients on idle connections get after the stop. Its date is the time of
  ///     the stop.
  ///   - onStop: called once, when the receiver is stopped.
  func monitor(
    _ socket: ListeningSocket, lastResponse makeLastResponse: () -> [UInt8], onStop: () -> Void
  ) {
    var isStopping = false
    var lastResponse: [UInt8] = []
    var closing = Closing(socket)
    var lastLook = ContinuousClock.now
    var wait: Duration? = .zero
    while true {
      let stop = state.withLock(\.stop)
      if stop != nil, !isStopping {
        onStop()
        lastResponse = makeLastResponse()
        isStopping = true
      }
      // The list is read after `onStop`, so that it contains every request that began before the stop.
      let (connections, isArriving, isAccepting) = state.withLock {
        (Array($0.connections.values), $0.hasArriving, $0.isAccepting)
      }
      if let stop {
        let isOver = ContinuousClock.now >= stop.deadline
        let isIdleOver = isOver || ContinuousClock.now >= stop.idleEnd
        closing.proceed(isIdleOver: isIdleOver, isOver: isOver)
        for connection in connections {
          connection.endIfIdle(lastResponse, grace: Self.idleGrace)
        }
        if isIdleOver {
          for connection in connections where isOver || connection.refusal == nil {
            connection.cut(evenIfBusy: isOver)
          }
        }
        if isOver || connections.isEmpty && !isArriving && !isAccepting { return }
        if isIdleOver, !isAccepting, !connections.contains(where: \.isNeeded) { return }
      }
      let now = ContinuousClock.now
      // If the wait took much longer than planned, the process was stopped, or the machine slept. Bytes that clients sent
      // meanwhile were not read. After a wait without a limit, all connections are new, so there is nothing to postpone.
      let missed = now - lastLook - (wait ?? .zero)
      if missed > Self.usualDelay {
        for connection in connections { connection.postponeLimits(by: missed) }
      }
      lastLook = now
      for connection in connections { connection.cutIfLate(limits) }
      wait = isStopping ? .milliseconds(10) : connections.isEmpty ? nil : interval
      wakeMonitor.wait(atMost: wait)
    }
  }

  /// Cuts the connections that are left after the stop, and waits until libmicrohttpd has closed them. If libmicrohttpd 0.9.75
  /// is stopped while it refuses a malformed head, it reads a response that it has not queued, and the process crashes. The
  /// wait costs no time, because stopping libmicrohttpd waits for the connections' handlers anyway.
  func cutRest() {
    while true {
      let (connections, isArriving) = state.withLock { state in
        (Array(state.connections.values), state.hasArriving)
      }
      if connections.isEmpty, !isArriving { return }
      for connection in connections { connection.cut(evenIfBusy: true) }
      wakeMonitor.wait(atMost: .milliseconds(10))
    }
  }

  /// Closes a listening socket in several steps, so that few clients are lost.
  private struct Closing {
    private let socket: ListeningSocket
    private var ignoresNewClients = false

    init(_ socket: ListeningSocket) {
      self.socket = socket
    }

    /// Takes the next step, if it is time for it. The first step is to ignore new clients. The second step is to close the
    /// socket, after all earlier clients have been accepted. An ignored client tries again a second later, and is refused
    /// by the system.
    mutating func proceed(isIdleOver: Bool, isOver: Bool) {
      if isOver || ignoresNewClients && !socket.hasWaitingClient {
        socket.stopListening()
      } else if !ignoresNewClients, isIdleOver || !socket.hasWaitingClient {
        socket.ignoreNewClients()
        ignoresNewClients = true
      }
    }
  }

  /// How late a time limit may be enforced.
  private var interval: Duration {
    max(
      Receiver.Limits.leastTime,
      min(.seconds(1), min(limits.headTime, limits.idleTime, limits.responseTime) / 8))
  }
}
