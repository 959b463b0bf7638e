import FormStreamNet
import FormStreamPlatform

/// A thread that drives exchanges and runs the tasks that decide what follows an exchange. A request therefore proceeds even if
/// the threads that all tasks of the program share are busy.
///
/// Sending is unchecked because everything that changes belongs to the loop's thread.
final class Engine: @unchecked Sendable {
  /// The longest time between two checks of the time limits.
  private static let checkInterval = Duration.milliseconds(50)
  /// How often an exchange whose result waits for the response's target is looked at.
  private static let graceInterval = Duration.milliseconds(5)

  /// The threads for everything that may block.
  let workers = WorkerThreads()
  /// Its thread drives the exchanges. The requests' own tasks prefer it as their executor.
  let loop: EventLoop
  /// The exchanges that libcurl carries out.
  let curl: CurlDriver
  /// The connections of all other exchanges.
  let pool: ConnectionPool
  private var running: [ObjectIdentifier: any Exchange] = [:]
  /// The exchanges that wait for their turn at a rate that limits them.
  private var awaitingTurn: [any Exchange] = []
  /// The exchanges that are over, but whose results wait a moment for the response's target.
  private var inGracePeriod: [any Exchange] = []
  private lazy var check = LoopTimer(on: loop) { [weak self] in self?.checkLimits() }
  private lazy var turn = LoopTimer(on: loop) { [weak self] in self?.takeTurns() }
  private lazy var grace = LoopTimer(on: loop) { [weak self] in self?.endGracePeriods() }

  /// - Parameters:
  ///   - configuration: the settings of the session.
  ///   - maximumHostConnections: the maximum number of connections to one host that libcurl has, idle ones included; no limit if
  ///     nil.
  init(_ configuration: Shared<TransferSession.Configuration>, maximumHostConnections: Int?) throws(TransferError) {
    let maximumIdle = configuration.value.maximumIdleConnections
    curl = try CurlDriver(maximumIdleConnections: maximumIdle, maximumHostConnections: maximumHostConnections)
    do throws(SystemError) {
      loop = try EventLoop(guest: curl)
    } catch {
      throw .noThread
    }
    pool = ConnectionPool(configuration, on: loop)
    curl.engine = self
  }

  // MARK: From any thread

  /// Drives an exchange to its end, and calls `completion` with its result on the engine's thread.
  func start(_ exchange: any Exchange, completion: @escaping @Sendable (ExchangeResult) -> Void) {
    loop.post { [self] in
      exchange.completion = completion
      running[ObjectIdentifier(exchange)] = exchange
      if !check.isSet { setCheck() }
      exchange.start(on: self)
    }
  }

  /// Ends an exchange at any point. Does nothing if the exchange has ended.
  func cancel(_ exchange: any Exchange) {
    loop.post { [self] in
      if running[ObjectIdentifier(exchange)] != nil { exchange.cutOff(because: .cancelledBeforeResponse) }
    }
  }

  func setPaused(_ exchange: any Exchange, _ isPaused: Bool) {
    loop.post { [self] in
      if running[ObjectIdentifier(exchange)] != nil { exchange.setPaused(isPaused) }
    }
  }

  /// Reports that a source has bytes again after it had none.
  ///
  /// - Parameter exchange: the exchange of the source. It may have ended, because a blocked source must not keep it alive.
  func sourceHasMore(_ exchange: ObjectIdentifier) {
    loop.post { [self] in running[exchange]?.sourceHasMore() }
  }

  /// Reports that the target of a response has room, has failed, or is complete.
  ///
  /// - Parameter exchange: the exchange of the target. It may have ended.
  func targetMoved(_ exchange: ObjectIdentifier) {
    loop.post { [self] in
      guard let exchange = running[exchange] else { return }
      exchange.targetMoved()
      _ = reportIfDelivered(exchange)
    }
  }

  /// Ends the thread. No exchange may be running.
  func stop() {
    loop.post { [self] in
      pool.closeAll()
      workers.stop()
    }
    loop.stop()
  }

  // MARK: Called by exchanges

  /// Notes that an exchange is over. Its result may still wait for the response's target.
  func finished(_ exchange: any Exchange) {
    guard !reportIfDelivered(exchange), exchange.isInGracePeriod else { return }
    inGracePeriod.append(exchange)
    if !grace.isSet { grace.set(after: Self.graceInterval) }
  }

  /// Has an exchange read on when it has its turn.
  func awaitTurn(_ exchange: any Exchange) {
    if !awaitingTurn.contains(where: { $0 === exchange }) { awaitingTurn.append(exchange) }
    setTurn()
  }

  // MARK: On the engine's thread

  /// Reports the result of an exchange that is over, unless the result still waits for the response's target. Returns whether
  /// the result was reported.
  private func reportIfDelivered(_ exchange: any Exchange) -> Bool {
    guard exchange.reportIfDelivered() else { return false }
    running[ObjectIdentifier(exchange)] = nil
    return true
  }

  private func endGracePeriods() {
    inGracePeriod.removeAll { reportIfDelivered($0) }
    if !inGracePeriod.isEmpty { grace.set(after: Self.graceInterval) }
  }

  private func checkLimits() {
    for exchange in Array(running.values) { exchange.endIfOverdue() }
    if !running.isEmpty { setCheck() }
  }

  /// Sets the next check of time limits: earlier than usual if an attempt's limit ends sooner.
  private func setCheck() {
    let time = running.values.reduce(Self.checkInterval) { time, exchange in
      guard let left = exchange.timeLeft, left > .zero else { return time }
      return min(time, left)
    }
    check.set(after: time)
  }

  /// Lets the exchanges read on that have their turn.
  private func takeTurns() {
    let waiting = awaitingTurn
    awaitingTurn = []
    for exchange in waiting where !exchange.takeTurn() { awaitingTurn.append(exchange) }
    setTurn()
  }

  private func setTurn() {
    guard let next = awaitingTurn.compactMap(\.turnBegin).min() else { return turn.cancel() }
    turn.set(after: ContinuousClock.now.duration(to: next))
  }
}
