import FormStreamPlatform

/// A signal that asks the command to stop: SIGINT or SIGTERM, and SIGHUP on request.
///
/// The first signal starts a grace period in which the command ends what it is doing. A second signal, or the end of
/// the grace period, cuts off the work that is still running. After that the process ends, at the latest when the
/// cleanup time is over. Half-written files are removed in each case.
///
/// Actions run on the thread that waits for signals. An action that is set after its signal has arrived runs at
/// once, on the thread that sets it.
final class Interruption: Sendable {
  private struct State {
    var signal: Int32?
    var isGracePeriodOver = false
    var stop: (@Sendable (Int32) -> Void)?
    var cutOff: (@Sendable () -> Void)?
  }

  private let state = Guarded(State())

  /// Starts waiting for signals. This must be called before there are other threads, once in a process.
  ///
  /// - Parameters:
  ///   - gracePeriod: seconds from the first signal until work is cut off.
  ///   - cleanup: seconds that are left for cleaning up after that; none if 0.
  ///   - includesHangup: whether SIGHUP, which says that the terminal was closed, counts too.
  init(gracePeriod: Int, cleanup: Int = 0, includesHangup: Bool = false) {
    let watch = SignalWatch(
      gracePeriod: gracePeriod, cleanup: cleanup, includesHangup: includesHangup,
      onSignal: { self.receive($0) }, onGracePeriodEnd: { self.cancelGracePeriod() })
    watch.start()
  }

  /// The first signal that arrived; nil if none did.
  var signal: Int32? { state.withLock(\.signal) }

  /// Sets what stops the work in an orderly way.
  func onSignal(_ stop: @escaping @Sendable (Int32) -> Void) {
    let signal = state.withLock { state in
      state.stop = stop
      return state.signal
    }
    if let signal { stop(signal) }
  }

  /// Sets what cuts off the work that is left when the grace period is over.
  func onGracePeriodEnd(_ cutOff: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      state.cutOff = cutOff
      return state.isGracePeriodOver
    }
    if isOver { cutOff() }
  }

  private func receive(_ signal: Int32) {
    let stop = state.withLock { state in
      state.signal = signal
      return state.stop
    }
    stop?(signal)
  }

  private func cancelGracePeriod() {
    let cutOff = state.withLock { state in
      state.isGracePeriodOver = true
      return state.cutOff
    }
    cutOff?()
  }
}
