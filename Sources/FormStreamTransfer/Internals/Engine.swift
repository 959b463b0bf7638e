import Foundation
import FormStreamMultipart

/// A thread that drives exchanges, and runs the tasks that decide on them: a request needs no other thread to go
/// on, however busy those are that the program's tasks share.
///
/// What is touched on that thread alone is said so; the inbox is shared.
final class Engine: @unchecked Sendable {
  private enum Command {
    case start(Exchange, completion: @Sendable (Exchange.End) -> Void)
    case cancel(Exchange)
    case setPaused(Exchange, Bool)
    case sourceHasMore(ObjectIdentifier)
    case run(UnownedJob)
    case stop
  }

  /// How long an exchange may be over a limit of time before that is noticed.
  private static let checkInterval = Duration.milliseconds(50)

  private let inbox = Guarded<[Command]>([])
  private let multi: CurlMulti
  /// Of the engine's thread.
  private let running: Running

  /// What is driven, shared with the callback for sockets that are about to be closed.
  private final class Running {
    /// By their `CurlEasy`.
    var exchanges: [ObjectIdentifier: Exchange] = [:]
  }

  init(maximumIdleConnections: Int) throws(TransferError) {
    let running = Running()
    self.running = running
    multi = try CurlMulti(maximumIdleConnections: maximumIdleConnections) { socket in
      for exchange in running.exchanges.values { exchange.willClose(socket) }
    }
    guard startThread("formstream-net", { [self] in drive() }) else { throw .noThread }
  }

  // MARK: From any thread

  /// Drives an exchange to its end, which is told on the engine's thread.
  func start(_ exchange: Exchange, completion: @escaping @Sendable (Exchange.End) -> Void) {
    post(.start(exchange, completion: completion))
  }

  /// Ends an exchange, wherever it stands. Nothing happens where it is over.
  func cancel(_ exchange: Exchange) { post(.cancel(exchange)) }

  func setPaused(_ exchange: Exchange, _ isPaused: Bool) { post(.setPaused(exchange, isPaused)) }

  /// A source that had nothing has something; named by its exchange's `CurlEasy`, which may be gone: a source
  /// that blocks must not hold what it was read for.
  func sourceHasMore(_ easy: ObjectIdentifier) { post(.sourceHasMore(easy)) }

  /// Ends the thread. Nothing may be under way.
  func stop() { post(.stop) }

  private func post(_ command: Command) {
    inbox.withLock { $0.append(command) }
    multi.wakeUp()
  }

  // MARK: On the engine's thread

  private func drive() {
    ignoreBrokenPipesOnThisThread()
    var nextCheck = ContinuousClock.now
    while true {
      for command in inbox.withLock({ inbox in
        defer { inbox = [] }
        return inbox
      }) {
        guard carryOut(command) else { return }
      }
      multi.perform()
      while let (easy, failure) = multi.nextFinished() {
        guard let exchange = running.exchanges[ObjectIdentifier(easy)] else { continue }
        finish(exchange, failure)
      }
      if ContinuousClock.now >= nextCheck {
        for exchange in Array(running.exchanges.values) where exchange.isOverdue() {
          multi.remove(exchange.easy)
          finish(exchange, nil)
        }
        nextCheck = .now + Self.checkInterval
      }
      multi.wait(milliseconds: running.exchanges.isEmpty ? 60_000 : 50)
    }
  }

  /// False where the thread is to end.
  private func carryOut(_ command: Command) -> Bool {
    switch command {
    case .start(let exchange, let completion):
      exchange.completion = completion
      running.exchanges[ObjectIdentifier(exchange.easy)] = exchange
      guard exchange.prepare(on: self), multi.add(exchange.easy) else {
        finish(exchange, exchange.easy.startFailure)
        return true
      }
    case .cancel(let exchange):
      guard isRunning(exchange) else { return true }
      exchange.abort(with: .called)
      multi.remove(exchange.easy)
      finish(exchange, nil)
    case .setPaused(let exchange, let isPaused):
      if isRunning(exchange) { exchange.setPaused(isPaused) }
    case .sourceHasMore(let easy):
      running.exchanges[easy]?.sourceHasMore()
    case .run(let job):
      job.runSynchronously(on: asUnownedTaskExecutor())
    case .stop:
      return false
    }
    return true
  }

  private func isRunning(_ exchange: Exchange) -> Bool {
    running.exchanges[ObjectIdentifier(exchange.easy)] != nil
  }

  private func finish(_ exchange: Exchange, _ failure: CurlFailure?) {
    running.exchanges[ObjectIdentifier(exchange.easy)] = nil
    exchange.finish(failure)
  }
}

extension Engine: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    post(.run(UnownedJob(job)))
  }
}

extension TransferError {
  static let noThread = TransferError(
    .engineFailed, on: "a thread",
    "A thread is needed, and the system gives none: raise the limits of memory and processes (ulimit)."
  )

  static let called = TransferError(
    .cancelled, on: "the request", "The request was called off before it was answered.")
  static let calledInAnswer = TransferError(
    .cancelled, on: "the request", "The request was called off in the middle of its answer.")
}
