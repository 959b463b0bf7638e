import FormStreamMultipart
import FormStreamPlatform

/// Messages for people, and below them a status line that is redrawn in place. Everything that goes to standard
/// error goes through one of these, so messages and the status line don't garble each other.
///
/// Any thread may call it, and waits here if the terminal is slow.
package final class MessageStream: Sendable {
  /// Draws the status line for a terminal of that width.
  package typealias StatusLine = @Sendable (_ columns: Int) -> String

  /// Moves the cursor to the start of the line and clears the line.
  private static let erasing = "\r\u{1B}[K"

  private struct State {
    var status: StatusLine?
    /// Whether the status line is on the screen.
    var isDrawn = false
  }

  private let output: @Sendable ([UInt8]) -> Void
  private let columns: @Sendable () -> Int?
  private let reportOpenLine: @Sendable (Bool) -> Void
  private let state = Guarded(State())

  /// - Parameters:
  ///   - columns: the terminal's width, read before each drawing; nil if nothing may be drawn now.
  ///   - reportOpenLine: called with true before a status line is drawn, and with false after it is erased.
  package init(
    to output: @escaping @Sendable ([UInt8]) -> Void, columns: @escaping @Sendable () -> Int?,
    reportOpenLine: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    self.output = output
    self.columns = columns
    self.reportOpenLine = reportOpenLine
  }

  /// The standard error of this process.
  package static let standardError = MessageStream(
    to: { try? OutputDescriptor.standardError.write($0) }, columns: columnsOfStandardError,
    reportOpenLine: breakLineOnSignal)

  /// Writes a line above the status line, with everything that could steer a terminal spelled out.
  package func write(_ line: String) {
    write(record: Array("\(visible(line))\n".utf8))
  }

  /// Writes complete lines as they are.
  package func write(record: [UInt8]) {
    state.withLock { state in
      // One write: another program's output can come before or after it, but not in between.
      var bytes = state.isDrawn ? Array(Self.erasing.utf8) : []
      bytes += record
      bytes += draw(&state) ?? []
      if state.isDrawn { reportOpenLine(true) }
      output(bytes)
      if !state.isDrawn { reportOpenLine(false) }
    }
  }

  /// Draws a status line in place of the one before.
  package func showStatus(_ status: @escaping StatusLine) {
    state.withLock { state in
      state.status = status
      guard let bytes = draw(&state) else { return }
      reportOpenLine(true)
      output(bytes)
    }
  }

  /// Erases the status line and leaves the cursor at the start of its line.
  package func clearStatus() {
    state.withLock { state in
      state.status = nil
      guard state.isDrawn else { return }
      state.isDrawn = false
      output(Array(Self.erasing.utf8))
      reportOpenLine(false)
    }
  }

  /// The bytes that draw the status line; nil if there is none or nothing may be drawn now. The text comes first,
  /// and then the rest of the old line is cleared: erasing first would flicker.
  private func draw(_ state: inout State) -> [UInt8]? {
    state.isDrawn = false
    guard let status = state.status, let columns = columns() else { return nil }
    state.isDrawn = true
    return Array("\r\(status(columns))\u{1B}[K".utf8)
  }
}
