import FormStreamPlatform

/// Makes a connection to whichever of some addresses answers first (RFC 8305, "Happy Eyeballs"). All of it belongs to the loop's thread.
package final class Connecting {
  package struct Settings: Sendable {
    /// Where connections begin on this machine; nil lets the system choose.
    package var localEnd: LocalEnd?
    /// How often a silent connection is checked; nil if it is not.
    package var keepAlive: Duration?
    /// When the next address is tried beside the others. RFC 8305 §5: "One recommended value for a default delay is 250 milliseconds."
    package var attemptDelay: Duration = .milliseconds(250)

    package init() {}
  }

  package typealias Completion = (Result<WatchedSocket, ConnectFailure>) -> Void

  private let loop: EventLoop
  private let settings: Settings
  private var rest: ArraySlice<SocketAddress>
  private var attempts: [Attempt] = []
  private var completion: Completion?
  /// The result, if it was found before ``start(within:)`` returned.
  private var earlyResult: Result<WatchedSocket, ConnectFailure>?
  private var isStarting = false
  private lazy var nextAddress = LoopTimer(on: loop) { [weak self] in self?.tryNext() }
  private lazy var limit = LoopTimer(on: loop, loopEnds: { [weak self] in self?.cancel() }) { [weak self] in self?.endAtLimit()
  }

  /// - Parameters:
  ///   - addresses: the addresses, the preferred one first.
  ///   - completion: called once, after ``start(within:)`` has returned, unless the attempt is cancelled or the loop ends. The socket
  ///     has no user yet, and may be ready already. Whoever gets it closes it.
  package init(
    to addresses: [SocketAddress], on loop: EventLoop, _ settings: Settings = Settings(), completion: @escaping Completion
  ) {
    (self.loop, self.settings, self.completion) = (loop, settings, completion)
    rest = Self.alternating(addresses)[...]
  }

  /// Begins. This object stays until it has a result, or is cancelled.
  ///
  /// - Parameter time: the limit for all addresses together.
  package func start(within time: Duration) {
    isStarting = true
    tryNext()
    isStarting = false
    // If there is a result, the timer passes it on in the next turn: nobody expects it inside of this call.
    if earlyResult == nil { limit.set(after: time) } else { limit.set(at: loop.now) }
    // After the loop's end no timer can be set, and nothing would end this.
    if limit.isSet { held = self } else { cancel() }
  }

  /// Keeps this object while it works, because timers and sockets do not.
  private var held: Connecting?

  /// Closes everything. The completion is not called.
  package func cancel() {
    if case .success(let socket) = earlyResult { socket.close() }
    release()
  }

  /// RFC 8305 §4: "address families … are interleaved", beginning with the family of the first address.
  static func alternating(_ addresses: [SocketAddress]) -> [SocketAddress] {
    guard let first = addresses.first?.family else { return [] }
    let own = addresses.filter { $0.family == first }
    let others = addresses.filter { $0.family != first }
    var order: [SocketAddress] = []
    for index in 0..<max(own.count, others.count) {
      if index < own.count { order.append(own[index]) }
      if index < others.count { order.append(others[index]) }
    }
    return order
  }

  /// Tries the next address, and at once another one if that fails at once.
  private func tryNext() {
    while completion != nil, earlyResult == nil, let address = rest.popFirst() {
      let attempt = Attempt(address, of: self)
      attempts.append(attempt)
      attempt.begin()
      guard attempt.error != nil else {
        if !rest.isEmpty, completion != nil, earlyResult == nil { nextAddress.set(after: settings.attemptDelay) }
        return
      }
    }
    endIfAllFailed()
  }

  /// Called by an attempt that has failed after its beginning.
  private func attemptFailed() {
    // RFC 8305 §5: the delay is for an address that doesn't answer. After a failure, nothing is waited for.
    if rest.isEmpty { endIfAllFailed() } else { tryNext() }
  }

  private func endIfAllFailed() {
    if rest.isEmpty, attempts.allSatisfy({ $0.error != nil }) { finish(.failure(failure(isTimedOut: false))) }
  }

  private func endAtLimit() {
    let result = earlyResult ?? .failure(failure(isTimedOut: true))
    earlyResult = nil
    finish(result)
  }

  private func failure(isTimedOut: Bool) -> ConnectFailure {
    ConnectFailure(addresses: attempts.map { .init(address: $0.address, error: $0.error) }, isTimedOut: isTimedOut)
  }

  private func finish(_ result: Result<WatchedSocket, ConnectFailure>) {
    guard let completion, earlyResult == nil else {
      // Nobody closes another connection.
      if case .success(let socket) = result { socket.close() }
      return
    }
    if isStarting {
      earlyResult = result
    } else {
      release()
      completion(result)
    }
  }

  private func release() {
    nextAddress.cancel()
    limit.cancel()
    for attempt in attempts { attempt.end() }
    attempts = []
    earlyResult = nil
    // Who is released with the completion may cancel this again.
    withExtendedLifetime((completion.take(), held.take())) {}
  }
}

extension Connecting {
  /// One address that is tried.
  private final class Attempt: SocketUser {
    let address: SocketAddress
    private(set) var error: SystemError?
    private weak var owner: Connecting?
    private var socket: WatchedSocket?
    private var retry: LoopTimer?
    private var retryDelay = Duration.milliseconds(1)

    init(_ address: SocketAddress, of owner: Connecting) {
      (self.address, self.owner) = (address, owner)
    }

    /// Begins a connection. A failure is noted, and not reported.
    func begin() {
      guard let owner else { return }
      do throws(SystemError) {
        let socket = try Socket(address.family)
        try owner.settings.localEnd?.bind(socket)
        if let time = owner.settings.keepAlive { try socket.keepAlive(every: time) }
        switch try socket.connect(to: address) {
        case .connected:
          self.socket = try WatchedSocket(socket, on: owner.loop, for: self)
          succeed()
        case .underway:
          self.socket = try WatchedSocket(socket, on: owner.loop, for: self)
        case .backlogFull:
          tryAgainLater(owner.loop)
        }
      } catch {
        self.error = error
      }
    }

    /// Nobody tells when a Unix-domain socket has room again, so this asks again and again, less and less often.
    private func tryAgainLater(_ loop: EventLoop) {
      let timer =
        retry
        ?? LoopTimer(on: loop) { [weak self] in
          guard let self else { return }
          begin()
          if error != nil { owner?.attemptFailed() }
        }
      retry = timer
      timer.set(after: retryDelay)
      retryDelay = min(retryDelay * 2, .milliseconds(50))
    }

    func isReady(_ socket: WatchedSocket) {
      guard socket.mayWrite else { return }
      if let failure = socket.connectFailure(at: address) {
        error = failure
        end()
        owner?.attemptFailed()
      } else {
        succeed()
      }
    }

    /// The limit's timer ends the whole.
    func loopEnds(_ socket: WatchedSocket) {}

    /// Passes the socket on.
    private func succeed() {
      guard let socket else { return }
      self.socket = nil
      socket.user = nil
      owner?.finish(.success(socket))
    }

    func end() {
      socket?.close()
      socket = nil
      retry?.cancel()
    }
  }
}
