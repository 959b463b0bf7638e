import FormStreamPlatform

/// A signal that asks the command to stop: SIGINT, SIGTERM or SIGHUP; for a server also SIGQUIT.
///
/// The first signal starts a grace period in which the command ends what it is doing. A second signal, or the end of
/// the grace period, cuts off the work that is still running. After that the process ends, at the latest when the
/// cleanup time is over. A SIGHUP does not count as a second signal: when a terminal is closed, the system sends a
/// SIGHUP, and the shell sends another. Half-written files are removed in each case.
///
/// Actions run on the thread that waits for signals. An action that is set after its signal has arrived runs at
/// once, on the thread that sets it.
final class Interruption: Sendable {
  fileprivate struct State {
    var signal: Int32?
    var isGracePeriodOver = false
    var stop: (@Sendable (Int32) -> Void)?
    var cutOff: (@Sendable () -> Void)?
    /// The interruptions that receive the same signals.
    var branches: [Guarded<State>] = []
  }

  private let state: Guarded<State>
  private let watch: SignalWatch

  /// Starts waiting for signals. This must be called before there are other threads, once in a process.
  ///
  /// - Parameters:
  ///   - gracePeriod: seconds from the first signal until work is cut off.
  ///   - cleanup: seconds for cleaning up after the work is cut off; none if 0.
  ///   - includesQuit: whether SIGQUIT is handled like the other signals. Otherwise SIGQUIT ends the process at once.
  ///   - onHangUp: the action of each SIGHUP; nil if SIGHUP asks the command to stop.
  init(
    gracePeriod: Int, cleanup: Int = 0, includesQuit: Bool = false, onHangUp: (@Sendable () -> Void)? = nil
  ) {
    let state = Guarded(State())
    self.state = state
    watch = SignalWatch(
      gracePeriod: gracePeriod, cleanup: cleanup, includesQuit: includesQuit, onHangUp: onHangUp,
      onSignal: { state.receive($0) }, onGracePeriodEnd: { state.endGracePeriod() })
    watch.start()
  }

  private init(_ state: Guarded<State>, _ watch: SignalWatch) {
    (self.state, self.watch) = (state, watch)
  }

  /// An interruption with actions of its own, for work beside other work. It receives the same signals.
  func branch() -> Interruption {
    let branch = state.withLock { state in
      var copy = state
      (copy.stop, copy.cutOff, copy.branches) = (nil, nil, [])
      let branch = Guarded(copy)
      state.branches.append(branch)
      return branch
    }
    return Interruption(branch, watch)
  }

  /// Stops waiting for signals: from here on, a signal ends the process at once. Call this on the thread that started
  /// waiting.
  ///
  /// - Returns: the first signal that has arrived; nil if none did.
  func end() -> Int32? {
    watch.end()
    return signal
  }

  /// The first signal that arrived; nil if none did.
  var signal: Int32? { state.withLock(\.signal) }

  /// Whether work was cut off: by a second signal, or because it took too long after the first.
  var isGracePeriodOver: Bool { state.withLock(\.isGracePeriodOver) }

  /// Sets the action that stops the work in an orderly way.
  func onSignal(_ stop: @escaping @Sendable (Int32) -> Void) {
    let signal = state.withLock { state in
      state.stop = stop
      return state.signal
    }
    if let signal { stop(signal) }
  }

  /// Sets the action that cuts off the remaining work when the grace period is over.
  func onGracePeriodEnd(_ cutOff: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      state.cutOff = cutOff
      return state.isGracePeriodOver
    }
    if isOver { cutOff() }
  }

}

extension Guarded<Interruption.State> {
  fileprivate func receive(_ signal: Int32) {
    let (stop, branches) = withLock { state in
      state.signal = signal
      return (state.stop, state.branches)
    }
    stop?(signal)
    for branch in branches { branch.receive(signal) }
  }

  fileprivate func endGracePeriod() {
    let (cutOff, branches) = withLock { state in
      state.isGracePeriodOver = true
      return (state.cutOff, state.branches)
    }
    cutOff?()
    for branch in branches { branch.endGracePeriod() }
  }
}

extension Interruption {
  /// Runs a function on another thread, because the function may block: an output may have no reader, and a FIFO may
  /// not be open at its other end. After a signal, this waits only 50 ms for the function.
  ///
  /// - Parameter message: the failure if the function has not returned by then.
  func performBlocking<Value: Sendable>(
    orElse message: String =
      "Nobody reads standard output: the record could not be written.",
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let outcome = Guarded<Result<Value, Failure>?>(nil)
    let event = AutoResetEvent()
    let isStarted = startThread("formstream-out") {
      let result = Result { () throws(Failure) in try body() }
      outcome.withLock { $0 = result }
      event.signal()
    }
    guard isStarted else { return try body() }
    onSignal { _ in event.signal() }
    event.wait(atMost: nil)
    if outcome.withLock({ $0 == nil }) { event.wait(atMost: .milliseconds(50)) }
    guard let result = outcome.withLock({ $0 }) else {
      throw Failure(signal.map(ExitCode.init(signal:)) ?? .interrupted, message)
    }
    return try result.get()
  }
}
