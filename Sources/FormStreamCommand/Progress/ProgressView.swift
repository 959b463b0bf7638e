import FormStreamJSON

/// The progress of a request or a batch, as each style shows it.
protocol ProgressView: Sendable {
  /// The status on a terminal of this size: fewer lines than the terminal has rows, and each line with fewer columns
  /// than the terminal has.
  func status(_ size: TerminalSize, isColored: Bool) -> [String]
  /// The state as a line of text.
  var heartbeat: String { get }
  /// The state as a record.
  var record: JSONValue { get }
}
