import FormStreamMultipart
import FormStreamPlatform

/// Messages for people, and below them a status of one line or several, which is redrawn in place. Everything that goes
/// to standard error goes through such a stream, so messages and the status don't garble each other.
///
/// Any thread may write to it. The thread waits if the terminal is slow.
package final class MessageStream: Sendable {
  /// Draws the status for a terminal of this size: fewer lines than the terminal has rows, and each line with fewer
  /// columns than the terminal has.
  package typealias Status = @Sendable (TerminalSize) -> [String]

  /// Moves the cursor to the start of the line, and clears everything from there.
  private static let erasing = "\r\u{1B}[J"
  /// Turn the wrapping of long lines off and on (DECAWM).
  private static let (breakingOff, breakingOn) = ("\u{1B}[?7l", "\u{1B}[?7h")

  private struct State {
    var status: Status?
    /// How many lines of the status are on the screen.
    var drawnLines = 0
  }

  private let output: @Sendable ([UInt8]) -> Void
  private let size: @Sendable () -> TerminalSize?
  private let reportOpenLines: @Sendable (Int) -> Void
  private let timestamp: @Sendable () -> String?
  private let state = Guarded(State())

  /// - Parameters:
  ///   - size: the terminal's size, read before each drawing; nil if nothing may be drawn now.
  ///   - reportOpenLines: called with the number of status lines before the status is drawn, and with 0 after the
  ///     status is erased.
  ///   - timestamp: the time to put before messages about what has just happened; nil for a terminal.
  package init(
    to output: @escaping @Sendable ([UInt8]) -> Void, size: @escaping @Sendable () -> TerminalSize?,
    reportOpenLines: @escaping @Sendable (Int) -> Void = { _ in },
    timestamp: @escaping @Sendable () -> String? = { nil }
  ) {
    self.output = output
    self.size = size
    self.timestamp = timestamp
    self.reportOpenLines = reportOpenLines
  }

  /// The standard error of this process.
  package static let standardError = MessageStream(
    to: { try? OutputDescriptor.standardError.write($0) }, size: sizeOfStandardError,
    reportOpenLines: breakLinesOnSignal,
    timestamp: { isTerminal(.error) ? nil : timeForLogs() })

  /// Writes a line above the status. Characters that could control the terminal are spelled out.
  package func write(_ line: String) {
    write(record: Array("\(visible(line))\n".utf8))
  }

  /// Writes a message of the command about something that has just happened. In logs, the time comes first.
  package func event(_ message: String) {
    write("formstream: \(stamped(message))")
  }

  /// The message; in logs, with the time before it.
  func stamped(_ message: String) -> String {
    timestamp().map { "\($0) \(message)" } ?? message
  }

  /// Writes complete lines as they are.
  package func write(record: [UInt8]) {
    state.withLock { state in
      // One write: another program's output can come before or after it, but not in between.
      var bytes = state.drawnLines > 0 ? Array(Self.erasing.utf8) : []
      bytes += record
      bytes += draw(&state) ?? []
      if state.drawnLines > 0 { reportOpenLines(state.drawnLines) }
      output(bytes)
      if state.drawnLines == 0 { reportOpenLines(0) }
    }
  }

  /// Draws a status in place of the previous status.
  package func showStatus(_ status: @escaping Status) {
    state.withLock { state in
      state.status = status
      guard let bytes = draw(&state) else { return }
      reportOpenLines(state.drawnLines)
      output(bytes)
    }
  }

  /// Erases the status, and leaves the cursor where its first line began.
  package func clearStatus() {
    state.withLock { state in
      state.status = nil
      guard state.drawnLines > 0 else { return }
      state.drawnLines = 0
      output(Array(Self.erasing.utf8))
      reportOpenLines(0)
    }
  }

  /// The bytes that draw the status; nil if there is none or nothing may be drawn now.
  ///
  /// The text comes first, and then the rest of the old line is cleared: erasing first would flicker. The cursor goes
  /// back to the start of the first line, and the next status begins there and clears everything below. If a resized
  /// terminal wraps the lines again, this start is the only position that is still known. Wrapping is off while the
  /// lines are drawn: in a terminal that is narrower than it reports, wrapped lines would move the cursor.
  private func draw(_ state: inout State) -> [UInt8]? {
    state.drawnLines = 0
    guard let status = state.status, let size = size() else { return nil }
    let lines = status(size)
    state.drawnLines = lines.count
    let up = lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : ""
    let text = lines.joined(separator: "\u{1B}[K\r\n")
    return Array("\r\(Self.breakingOff)\(text)\u{1B}[J\(Self.breakingOn)\r\(up)".utf8)
  }
}
