import FormStreamCommand
import Synchronization

/// Stores what is written, in place of a terminal.
final class Page: Sendable {
  private let state = Mutex((text: "", width: 80 as Int?, openLines: 0))

  func stream() -> MessageStream {
    MessageStream(
      to: { bytes in self.state.withLock { $0.text += String(decoding: bytes, as: UTF8.self) } },
      size: { self.width.map { TerminalSize(columns: $0) } },
      reportOpenLines: { count in self.state.withLock { $0.openLines = count } })
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

  /// How many lines of a status are on the page.
  var openLines: Int { state.withLock(\.openLines) }
}

/// A clock that moves only when a test advances it.
final class StoppedClock: Sendable {
  private let time = Mutex(ContinuousClock.now)

  var now: ContinuousClock.Instant { time.withLock(\.self) }

  func advance(by duration: Duration) {
    time.withLock { $0 += duration }
  }
}
