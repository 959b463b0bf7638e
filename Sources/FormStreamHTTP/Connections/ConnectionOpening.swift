import FormStreamNet
import FormStreamPlatform

/// Gets a connection for an exchange: an idle one, or a new one. All of it belongs to the loop's thread.
final class ConnectionOpening {
  private enum Step {
    case begun
    case lookingUp(Resolver.Waiter)
    case connecting(Connecting)
    case over
  }

  private unowned let exchange: SocketExchange
  private let pool: ConnectionPool
  private var step = Step.begun
  private lazy var limit = LoopTimer(on: pool.loop) { [weak self] in self?.endAtLimit() }

  init(of exchange: SocketExchange, in pool: ConnectionPool) {
    (self.exchange, self.pool) = (exchange, pool)
  }

  /// - Parameter isFresh: whether idle connections are not used.
  func begin(isFresh: Bool) {
    guard let place = ConnectionPlace(exchange.request) else {
      return fail(WireFailure(cause: .notConnected(nil), ending: .closed, detail: "the socket's path is too long"))
    }
    if isFresh {
      pool.makeRoom(at: place)
    } else if let connection = pool.take(place) {
      step = .over
      return exchange.begin(over: connection)
    }
    if let time = exchange.request.options.timeLimits.connect { limit.set(after: time) }
    if let socket = place.socket { return connect(to: [.unix(socket)], place, pool.settings) }
    lookUp(place.host, port: place.port) { $0.use($1, place) }
  }

  private func lookUp(_ host: String, port: UInt16, _ use: @escaping (ConnectionOpening, Resolver.Answer) -> Void) {
    let families: Resolver.Families =
      switch exchange.request.configuration.addressFamily.kind {
      case .any: .any
      case .ipv4: .ipv4
      case .ipv6: .ipv6
      }
    let finding = pool.resolver.find(host, port: port, families, on: pool.loop) { [weak self] answer in
      if let self { use(self, answer) }
    }
    switch finding {
    case .known(let answer): use(self, answer)
    case .awaited(let waiter): step = .lookingUp(waiter)
    }
  }

  private func use(_ answer: Resolver.Answer, _ place: ConnectionPlace) {
    exchange.metrics.lookup = exchange.clock.time
    switch answer {
    case .success(let addresses): findLocalEnd(for: addresses, place)
    case .failure(let failure):
      exchange.mayResolveLater = failure.isTemporary
      // An address of a family that the settings exclude.
      let isAddress = SocketAddress(place.host, port: place.port) != nil
      fail(isAddress ? WireFailure(cause: .notConnected(nil), ending: .closed, detail: failure.reason) : WireFailure(failure))
    }
  }

  /// Looks up where the connection is to begin, if only a name of it is known.
  private func findLocalEnd(for addresses: [SocketAddress], _ place: ConnectionPlace) {
    guard case .host(let name) = pool.settings.localEnd else { return connect(to: addresses, place, pool.settings) }
    lookUp(name, port: 0) { opening, answer in
      switch answer {
      case .success(let ends) where ends.contains { end in addresses.contains { $0.family == end.family } }:
        var settings = opening.pool.settings
        settings.localEnd = .addresses(ends)
        opening.connect(to: addresses, place, settings)
      case .success: opening.fail(WireFailure(cause: .interface, ending: .closed, detail: "its addresses are of another kind"))
      case .failure(let failure):
        opening.fail(WireFailure(cause: .interface, ending: .closed, detail: failure.reason))
      }
    }
  }

  private func connect(to addresses: [SocketAddress], _ place: ConnectionPlace, _ settings: Connecting.Settings) {
    let connecting = Connecting(to: addresses, on: pool.loop, settings) { [weak self] result in
      self?.use(result, place)
    }
    step = .connecting(connecting)
    connecting.start(within: .longestWait)
  }

  private func use(_ result: Result<WatchedSocket, ConnectFailure>, _ place: ConnectionPlace) {
    switch result {
    case .success(let socket):
      exchange.metrics.connect = exchange.clock.time
      limit.cancel()
      step = .over
      exchange.begin(over: Connection(socket, to: place, in: pool))
    case .failure(let failure):
      pool.resolver.forget(place.host)
      fail(WireFailure(failure, hasLocalEnd: pool.settings.localEnd != nil))
    }
  }

  private func endAtLimit() {
    fail(WireFailure(cause: .notConnectedInTime, ending: .closed, detail: "the time is over"))
  }

  private func fail(_ failure: WireFailure) {
    cancel()
    exchange.end(with: failure)
  }

  func cancel() {
    limit.cancel()
    switch step {
    case .lookingUp(let waiter): waiter.cancel()
    case .connecting(let connecting): connecting.cancel()
    case .begun, .over: break
    }
    step = .over
  }
}
