import FormStreamPlatform

/// A thread that drives exchanges and runs the tasks that decide what follows an exchange. A request therefore proceeds even if
/// the threads that all tasks of the program share are busy.
///
/// The inbox is shared between threads; everything else belongs to the engine's thread.
final class Engine: @unchecked Sendable {
  private enum Command {
    case start(Exchange, completion: @Sendable (ExchangeResult) -> Void)
    case cancel(Exchange)
    case setPaused(Exchange, Bool)
    case sourceHasMore(ObjectIdentifier)
    case targetMoved(ObjectIdentifier)
    case run(UnownedJob)
    case stop

    /// Whether libcurl has something to do after this command.
    var concernsTransfers: Bool { if case .run = self { false } else { true } }
  }

  private struct Inbox {
    var commands: [Command] = []
    /// Whether the engine waits or is about to wait, so that the next command has to wake it.
    var isAwaited = false
  }

  /// The longest time between two checks of the time limits.
  private static let checkInterval = Duration.milliseconds(50)
  /// The maximum number of rounds in a row without a call to libcurl. Tasks must not hold up the transfers for longer.
  private static let maximumRoundsWithoutLibcurl = 8

  /// The threads for everything that may block.
  let workers = WorkerThreads()
  private let inbox = Guarded(Inbox())
  /// The commands that are being carried out. The array keeps its memory for the next commands.
  private var taken: [Command] = []
  private let multi: CurlMulti
  private let maximumHostConnections: Int?
  /// How many exchanges have a connection beyond the maximum.
  private var extraConnections = 0
  private let running: RunningExchanges
  /// The exchanges that were paused or resumed since libcurl was last called.
  private var changedPauses: [Exchange] = []
  /// The exchanges that wait for the SETTINGS of an HTTP/2 server.
  private var awaitingSettings: [Exchange] = []
  /// The exchanges that wait for their turn at a rate that they share with others.
  private var awaitingTurn: [Exchange] = []
  /// The exchanges that are over, but whose results wait a moment for the response's target.
  private var inGracePeriod: [Exchange] = []

  /// The exchanges that are being driven, shared with the callback for sockets that are about to be closed.
  private final class RunningExchanges {
    /// The exchanges by the identity of their `CurlEasy`.
    var exchanges: [ObjectIdentifier: Exchange] = [:]
    /// The exchanges that may have to check the server's first bytes before libcurl reads them.
    var awaitingFirstBytes: [Exchange] = []
  }

  /// - Parameter maximumHostConnections: the maximum number of connections to one host, idle ones included; no limit if
  ///   nil.
  init(maximumIdleConnections: Int, maximumHostConnections: Int?) throws(TransferError) {
    let running = RunningExchanges()
    self.running = running
    self.maximumHostConnections = maximumHostConnections
    multi = try CurlMulti(
      maximumIdleConnections: maximumIdleConnections, maximumHostConnections: maximumHostConnections
    ) { socket in
      for exchange in running.exchanges.values { exchange.willClose(socket) }
    }
    guard startThread("formstream-net", { [self] in drive() }) else { throw .noThread }
  }

  // MARK: From any thread

  /// Drives an exchange to its end, and calls `completion` with its result on the engine's thread.
  func start(_ exchange: Exchange, completion: @escaping @Sendable (ExchangeResult) -> Void) {
    post(.start(exchange, completion: completion))
  }

  /// Ends an exchange at any point. Does nothing if the exchange has ended.
  func cancel(_ exchange: Exchange) { post(.cancel(exchange)) }

  func setPaused(_ exchange: Exchange, _ isPaused: Bool) { post(.setPaused(exchange, isPaused)) }

  /// Reports that a source has bytes again after it had none.
  ///
  /// - Parameter easy: the `CurlEasy` of the source's exchange. The exchange may have ended, because a blocked source must not
  ///   keep it alive.
  func sourceHasMore(_ easy: ObjectIdentifier) { post(.sourceHasMore(easy)) }

  /// Reports that the target of a response has room, has failed, or is complete.
  ///
  /// - Parameter easy: the `CurlEasy` of the target's exchange. The exchange may have ended.
  func targetMoved(_ easy: ObjectIdentifier) { post(.targetMoved(easy)) }

  /// Ends the thread. No exchange may be running.
  func stop() { post(.stop) }

  /// Passes a command to the engine. The engine is woken only if it waits, because waking it costs more than the rest of a
  /// small request.
  private func post(_ command: Command) {
    let wakesEngine = inbox.withLock { inbox in
      inbox.commands.append(command)
      defer { inbox.isAwaited = false }
      return inbox.isAwaited
    }
    if wakesEngine { multi.wakeUp() }
  }

  // MARK: On the engine's thread

  private func drive() {
    ignoreBrokenPipesOnThisThread()
    var nextCheck = ContinuousClock.now
    // Each call of libcurl goes through all transfers, so libcurl is called only if one of them may go on.
    var isDue = true
    var roundsWithoutLibcurl = 0
    while true {
      takeCommands()
      for command in taken {
        guard carryOut(command) else { return }
        if command.concernsTransfers { isDue = true }
      }
      taken.removeAll(keepingCapacity: true)
      if !awaitingTurn.isEmpty, takeTurns() { isDue = true }
      roundsWithoutLibcurl += 1
      if isDue || roundsWithoutLibcurl == Self.maximumRoundsWithoutLibcurl {
        (isDue, roundsWithoutLibcurl) = (false, 0)
        driveTransfers()
      }
      if ContinuousClock.now >= nextCheck {
        for exchange in Array(running.exchanges.values) where exchange.endIfOverdue() {
          end(exchange)
        }
        nextCheck = .now + timeUntilCheck
      }
      if !awaitingSettings.isEmpty { awaitingSettings.removeAll { restart($0) } }
      if !inGracePeriod.isEmpty { inGracePeriod.removeAll { reportIfDelivered($0) } }
      guard mayWait() else { continue }
      let hasReady = multi.wait(milliseconds: waitingTime(untilCheck: nextCheck))
      // If neither a socket nor a command ended the wait, a time limit ended it. This may be a limit of libcurl's own.
      isDue = hasReady || inbox.withLock { $0.commands.isEmpty }
    }
  }

  /// Has an exchange read on when it has its turn. Called on the engine's thread.
  func awaitTurn(_ exchange: Exchange) {
    if !awaitingTurn.contains(where: { $0 === exchange }) { awaitingTurn.append(exchange) }
  }

  /// Lets the exchanges read on that have their turn; returns whether there are any.
  private func takeTurns() -> Bool {
    let waiting = awaitingTurn
    awaitingTurn = []
    var readsOn = false
    for exchange in waiting {
      // An exchange that reads on may wait for its next turn at once.
      if exchange.takeTurn() { readsOn = true } else { awaitTurn(exchange) }
    }
    return readsOn
  }

  private func driveTransfers() {
    // After a resumption libcurl reads at once, in spite of another pause, and can't keep all of the head that it then reads.
    // So it only learns the last change.
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
  private func restart(_ exchange: Exchange) -> Bool {
    // The exchange may have been cancelled.
    guard let socket = exchange.awaitedSocket else { return true }
    // If the exchange waits for the second time, the server allows few streams, so the exchange gets a connection of its own.
    let isOnNewConnection = exchange.waits > 1
    if !isOnNewConnection, multi.awaitsSettings(socket) { return false }
    exchange.noteRestart()
    if !multi.addAgain(exchange.easy, isOnNewConnection: isOnNewConnection) {
      finish(exchange, exchange.easy.startFailure)
    }
    return true
  }

  /// The time until the next check of time limits: less than the interval if an attempt's limit ends sooner.
  private var timeUntilCheck: Duration {
    running.exchanges.values.reduce(Self.checkInterval) { time, exchange in
      guard let left = exchange.timeLeft, left > .zero else { return time }
      return min(time, left)
    }
  }

  private func waitingTime(untilCheck check: ContinuousClock.Instant) -> Int {
    if running.exchanges.isEmpty { return 60_000 }
    if !inGracePeriod.isEmpty { return 5 }
    let next = awaitingTurn.compactMap(\.turnBegin).reduce(check, min)
    return max(1, Int(ContinuousClock.now.duration(to: next) / .milliseconds(1)))
  }

  private func takeCommands() {
    inbox.withLock { inbox in
      swap(&inbox.commands, &taken)
      inbox.isAwaited = false
    }
  }

  /// Whether the engine may wait, because there are no commands. If it may, the next command wakes it.
  private func mayWait() -> Bool {
    inbox.withLock { inbox in
      inbox.isAwaited = inbox.commands.isEmpty
      return inbox.isAwaited
    }
  }

  /// Carries out a command; returns false if the thread must end.
  private func carryOut(_ command: Command) -> Bool {
    switch command {
    case .start(let exchange, let completion):
      exchange.completion = completion
      running.exchanges[ObjectIdentifier(exchange.easy)] = exchange
      if exchange.awaitsFirstBytes { running.awaitingFirstBytes.append(exchange) }
      if exchange.needsExtraConnection { changeExtraConnections(by: 1) }
      guard exchange.prepare(on: self), multi.add(exchange.easy) else {
        finish(exchange, exchange.easy.startFailure)
        return true
      }
    case .cancel(let exchange):
      guard isRunning(exchange) else { return true }
      exchange.cutOff(because: .cancelledBeforeResponse)
      end(exchange)
    case .setPaused(let exchange, let isPaused):
      exchange.isPaused = isPaused
      changedPauses.append(exchange)
    case .sourceHasMore(let easy):
      running.exchanges[easy]?.sourceHasMore()
    case .targetMoved(let easy):
      guard let exchange = running.exchanges[easy] else { return true }
      if exchange.targetMoved() { _ = reportIfDelivered(exchange) } else { end(exchange) }
    case .run(let job):
      job.runSynchronously(on: asUnownedTaskExecutor())
    case .stop:
      workers.stop()
      return false
    }
    return true
  }

  private func isRunning(_ exchange: Exchange) -> Bool {
    running.exchanges[ObjectIdentifier(exchange.easy)] != nil
  }

  /// Ends an exchange before libcurl does.
  private func end(_ exchange: Exchange) {
    multi.remove(exchange.easy)
    finish(exchange, nil)
  }

  private func finish(_ exchange: Exchange, _ failure: CurlFailure?) {
    running.awaitingFirstBytes.removeAll { $0 === exchange }
    exchange.finish(failure)
    if !reportIfDelivered(exchange), exchange.isInGracePeriod { inGracePeriod.append(exchange) }
  }

  /// Reports the result of an exchange that is over, unless the result still waits for the response's target. Returns whether
  /// the result was reported.
  private func reportIfDelivered(_ exchange: Exchange) -> Bool {
    guard exchange.reportIfDelivered() else { return false }
    running.exchanges[ObjectIdentifier(exchange.easy)] = nil
    if exchange.needsExtraConnection { changeExtraConnections(by: -1) }
    return true
  }

  /// Changes libcurl's own maximum of connections. Otherwise libcurl would make the exchanges beyond the maximum wait.
  private func changeExtraConnections(by change: Int) {
    extraConnections += change
    guard let maximumHostConnections else { return }
    multi.setMaximumHostConnections(maximumHostConnections + extraConnections)
  }
}

extension Engine: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    handOver(job) { post(.run($0)) }
  }
}
