import FormStreamJSON

/// What there is to show of something that goes on, in each style.
protocol ProgressView: Sendable {
  /// The status on a terminal of that size: fewer lines than it has rows, each of fewer columns than it has.
  func status(_ size: TerminalSize, isColored: Bool) -> [String]
  /// The state as a line of text.
  var heartbeat: String { get }
  /// The state as a record.
  var record: JSONValue { get }
}
