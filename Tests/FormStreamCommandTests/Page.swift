import FormStreamCommand
import Synchronization

/// Stores what is written, in place of a terminal.
final class Page: Sendable {
  private let state = Mutex((text: "", width: 80 as Int?, isLineOpen: false))

  func stream() -> MessageStream {
    MessageStream(
      to: { bytes in self.state.withLock { $0.text += String(decoding: bytes, as: UTF8.self) } },
      columns: { self.width },
      reportOpenLine: { isOpen in self.state.withLock { $0.isLineOpen = isOpen } })
  }

  /// What was written since the last call.
  func take() -> String {
    state.withLock { state in
      defer { state.text = "" }
      return state.text
    }
  }

  var width: Int? {
    get { state.withLock(\.width) }
    set { state.withLock { $0.width = newValue } }
  }

  var isLineOpen: Bool { state.withLock(\.isLineOpen) }
}

/// A clock that moves only when a test advances it.
final class StoppedClock: Sendable {
  private let time = Mutex(ContinuousClock.now)

  var now: ContinuousClock.Instant { time.withLock(\.self) }

  func advance(by duration: Duration) {
    time.withLock { $0 += duration }
  }
}
