import FormStreamMultipart

/// Lines for people, and below them one that is drawn anew in place. All that goes to standard error goes
/// through one of these, so that neither garbles the other.
///
/// Any thread may call it. Whoever has a slow terminal waits here.
package final class MessageStream: Sendable {
  /// Draws the status line for a terminal of so many columns.
  package typealias Status = @Sendable (_ columns: Int) -> String

  /// To the start of the line, and nothing behind it.
  private static let erasing = "\r\u{1B}[K"

  private let output: @Sendable ([UInt8]) -> Void
  private let columns: @Sendable () -> Int?
  private let leavesLineOpen: @Sendable (Bool) -> Void
  private let turn = Guarded(())
  /// Guarded by `turn`.
  nonisolated(unsafe) private var status: Status?
  /// Whether the status stands in the terminal's last line. Guarded by `turn`.
  nonisolated(unsafe) private var isDrawn = false

  /// - Parameters:
  ///   - columns: the terminal's width, which is asked for each drawing; nil where nothing may be drawn now.
  ///   - leavesLineOpen: is told whether the cursor stands behind a status, before it is drawn and after it
  ///     is gone.
  package init(
    to output: @escaping @Sendable ([UInt8]) -> Void, columns: @escaping @Sendable () -> Int?,
    leavesLineOpen: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    self.output = output
    self.columns = columns
    self.leavesLineOpen = leavesLineOpen
  }

  /// The process's own.
  package static let standardError = MessageStream(
    to: { try? OutputDescriptor.standardError.write($0) }, columns: columnsOfStandardError,
    leavesLineOpen: breakLineOnSignal)

  /// Writes a line, safe for terminals, above the status.
  package func write(_ line: String) {
    write(record: Array("\(visible(line))\n".utf8))
  }

  /// Writes lines as they are, with their line feeds.
  package func write(record: [UInt8]) {
    withTurn {
      // In one go: another program's lines can come before or behind it, but not between.
      var bytes = isDrawn ? Array(Self.erasing.utf8) : []
      bytes += record
      bytes += drawing() ?? []
      if isDrawn { leavesLineOpen(true) }
      output(bytes)
      if !isDrawn { leavesLineOpen(false) }
    }
  }

  /// Draws the status, in place of the one before.
  package func showStatus(_ status: @escaping Status) {
    withTurn {
      self.status = status
      guard let bytes = drawing() else { return }
      leavesLineOpen(true)
      output(bytes)
    }
  }

  /// Takes the status away; the cursor is at the start of its line then.
  package func clearStatus() {
    withTurn {
      status = nil
      guard isDrawn else { return }
      isDrawn = false
      output(Array(Self.erasing.utf8))
      leavesLineOpen(false)
    }
  }

  /// What draws the status where it can be drawn. The text comes first and what is left of the old one goes
  /// after: so nothing flickers.
  private func drawing() -> [UInt8]? {
    isDrawn = false
    guard let status, let columns = columns() else { return nil }
    isDrawn = true
    return Array("\r\(status(columns))\u{1B}[K".utf8)
  }

  private func withTurn(_ body: () -> Void) {
    turn.withLock { _ in body() }
  }
}
