import FormStreamNet

/// Drives the exchanges that libcurl carries out, on an engine's thread.
///
/// Sending is unchecked because everything belongs to the engine's thread.
final class CurlDriver: LoopGuest, @unchecked Sendable {
  /// The engine owns this object.
  weak var engine: Engine?
  private let multi: CurlMulti
  private let maximumHostConnections: Int?
  /// How many exchanges have a connection beyond the maximum.
  private var extraConnections = 0
  private let running: RunningExchanges
  /// The exchanges that were paused or resumed since libcurl was last called.
  private var changedPauses: [CurlExchange] = []
  /// The exchanges that wait for the SETTINGS of an HTTP/2 server.
  private var awaitingSettings: [CurlExchange] = []
  /// Whether a transfer may go on. Each call of libcurl goes through all transfers, so libcurl is called only then.
  private var isDue = false

  /// The exchanges that are being driven, shared with the callback for sockets that are about to be closed.
  private final class RunningExchanges {
    /// The exchanges by the identity of their `CurlEasy`.
    var exchanges: [ObjectIdentifier: CurlExchange] = [:]
    /// The exchanges that may have to check the server's first bytes before libcurl reads them.
    var awaitingFirstBytes: [CurlExchange] = []
  }

  init(maximumIdleConnections: Int, maximumHostConnections: Int?) throws(TransferError) {
    let running = RunningExchanges()
    self.running = running
    self.maximumHostConnections = maximumHostConnections
    multi = try CurlMulti(
      maximumIdleConnections: maximumIdleConnections, maximumHostConnections: maximumHostConnections
    ) { socket in
      for exchange in running.exchanges.values { exchange.willClose(socket) }
    }
  }

  // MARK: Called by exchanges and the engine

  func start(_ exchange: CurlExchange, on engine: Engine) {
    isDue = true
    running.exchanges[ObjectIdentifier(exchange.easy)] = exchange
    if exchange.awaitsFirstBytes { running.awaitingFirstBytes.append(exchange) }
    if exchange.needsExtraConnection { changeExtraConnections(by: 1) }
    guard exchange.prepare(on: engine), multi.add(exchange.easy) else {
      return finish(exchange, exchange.easy.startFailure)
    }
  }

  /// Ends an exchange before libcurl does; if libcurl is done with it, only its result waits.
  func end(_ exchange: CurlExchange) {
    multi.remove(exchange.easy)
    finish(exchange, nil)
  }

  /// Tells libcurl the last change of a pause when libcurl is called next. After a resumption libcurl reads at once, in spite of
  /// another pause, and can't keep all of the head that it then reads.
  func pauseChanged(_ exchange: CurlExchange) {
    changedPauses.append(exchange)
    isDue = true
  }

  /// Has libcurl called soon, because a transfer may go on.
  func noteMovement() { isDue = true }

  // MARK: LoopGuest

  func wait(besides descriptor: CInt, milliseconds: Int32) -> Bool {
    if running.exchanges.isEmpty { return false }
    let time = isDue ? 0 : milliseconds < 0 ? 60_000 : milliseconds
    if multi.wait(besides: descriptor, milliseconds: Int(time)) { isDue = true }
    return true
  }

  func turn() {
    if isDue {
      isDue = false
      driveTransfers()
    }
    if !awaitingSettings.isEmpty { awaitingSettings.removeAll { restart($0) } }
  }

  private func driveTransfers() {
    for exchange in changedPauses where isRunning(exchange) { exchange.passPauseOn() }
    changedPauses.removeAll()
    for exchange in running.awaitingFirstBytes where exchange.awaitsFirstBytes {
      exchange.lookAtFirstBytes()
    }
    multi.perform()
    while let (easy, failure) = multi.nextFinished() {
      guard let exchange = running.exchanges[ObjectIdentifier(easy)] else { continue }
      if exchange.awaitedSocket != nil {
        awaitingSettings.append(exchange)
      } else {
        finish(exchange, failure)
      }
    }
  }

  /// Starts an exchange again if it no longer has to wait for SETTINGS; returns false if it still waits.
  private func restart(_ exchange: CurlExchange) -> Bool {
    // The exchange may have been cancelled.
    guard let socket = exchange.awaitedSocket else { return true }
    // If the exchange waits for the second time, the server allows few streams, so the exchange gets a connection of its own.
    let isOnNewConnection = exchange.waits > 1
    if !isOnNewConnection, multi.awaitsSettings(socket) { return false }
    exchange.noteRestart()
    isDue = true
    if !multi.addAgain(exchange.easy, isOnNewConnection: isOnNewConnection) {
      finish(exchange, exchange.easy.startFailure)
    }
    return true
  }

  private func isRunning(_ exchange: CurlExchange) -> Bool {
    running.exchanges[ObjectIdentifier(exchange.easy)] != nil
  }

  private func finish(_ exchange: CurlExchange, _ failure: CurlFailure?) {
    if running.exchanges.removeValue(forKey: ObjectIdentifier(exchange.easy)) != nil, exchange.needsExtraConnection {
      changeExtraConnections(by: -1)
    }
    running.awaitingFirstBytes.removeAll { $0 === exchange }
    exchange.finish(failure)
    engine?.finished(exchange)
  }

  /// Changes libcurl's own maximum of connections. Otherwise libcurl would make the exchanges beyond the maximum wait.
  private func changeExtraConnections(by change: Int) {
    extraConnections += change
    guard let maximumHostConnections else { return }
    multi.setMaximumHostConnections(maximumHostConnections + extraConnections)
  }
}
