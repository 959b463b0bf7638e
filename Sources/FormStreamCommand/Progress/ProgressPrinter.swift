import FormStreamJSON

/// Decides when progress is written, in the style that was chosen, and writes it.
struct ProgressPrinter {
  /// How long a command runs before its status appears, so that a short run shows none.
  static let statusDelay = Duration.milliseconds(300)
  static let statusInterval = Duration.milliseconds(100)
  private static let recordInterval = Duration.milliseconds(50)
  private static let heartbeatInterval = Duration.seconds(30)

  private let style: ProgressOutput
  private let stream: MessageStream
  private var start: ContinuousClock.Instant?
  private var lastOutput: ContinuousClock.Instant?
  /// Whether something has changed since the last record.
  private var hasUnreportedChange = false
  private(set) var isFinished = false

  init(_ style: ProgressOutput, on stream: MessageStream) {
    (self.style, self.stream) = (style, stream)
  }

  /// Whether a status or a heartbeat was written.
  var hasShown: Bool { lastOutput != nil }

  /// Notes a step.
  ///
  /// - Parameter isNew: whether anything but the time is new.
  mutating func noteStep(isNew: Bool, at time: ContinuousClock.Instant) {
    start = start ?? time
    if isNew { hasUnreportedChange = true }
  }

  /// Writes the progress if an output is due.
  mutating func show(_ view: some ProgressView, at time: ContinuousClock.Instant) {
    guard let start else { return }
    switch style {
    case .bar(let isColored):
      guard time - start >= Self.statusDelay, isDue(after: Self.statusInterval, at: time) else {
        return
      }
      lastOutput = time
      stream.showStatus { view.status($0, isColored: isColored) }
    case .records:
      guard hasUnreportedChange, isDue(after: Self.recordInterval, at: time) else { return }
      write(view.record, at: time)
    case .heartbeat:
      guard time - (lastOutput ?? start) >= Self.heartbeatInterval else { return }
      lastOutput = time
      stream.event(view.heartbeat)
    case .silence: break
    }
  }

  /// Writes the last record if it is new, and erases the status. Nothing may be written afterwards.
  mutating func finish(_ view: (some ProgressView)?, at time: ContinuousClock.Instant) {
    isFinished = true
    switch style {
    case .records: if hasUnreportedChange, let view { write(view.record, at: time) }
    case .bar, .heartbeat: stream.clearStatus()
    case .silence: break
    }
  }

  private func isDue(after interval: Duration, at time: ContinuousClock.Instant) -> Bool {
    lastOutput.map { time - $0 >= interval } ?? true
  }

  private mutating func write(_ record: JSONValue, at time: ContinuousClock.Instant) {
    lastOutput = time
    hasUnreportedChange = false
    stream.write(record: record.line())
  }
}
