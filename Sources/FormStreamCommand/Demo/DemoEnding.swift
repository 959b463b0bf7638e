import FormStreamMultipart

/// How a demo ends before its time: what it is at is called off, and nothing that it made stays.
final class DemoEnding: Sendable {
  private struct State {
    var signal: Int32?
    var scratch: ScratchDirectory?
  }

  /// Who sends.
  let sender = ProcessSignals()
  private let state = Guarded(State())

  /// Has a directory removed where the demo can't do that any more.
  func removes(_ scratch: ScratchDirectory) {
    state.withLock { $0.scratch = scratch }
  }

  /// The first signal, after which the demo ends by itself.
  func tell(_ signal: Int32) {
    state.withLock { $0.signal = signal }
    sender.send(signal)
  }

  /// A second one, or the time for that is over.
  func hurry() {
    sender.kill()
    state.withLock(\.scratch)?.remove()
  }

  /// What the demo ends with where a signal came.
  var failure: Failure? {
    state.withLock(\.signal).map { signal in
      Failure(
        signal == 2 ? .interrupted : .terminated, "Ended by a signal; nothing it made is left.")
    }
  }

  /// Ends the demo where a signal came.
  func check() throws(Failure) {
    if let failure { throw failure }
  }
}
