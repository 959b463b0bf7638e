import FormStreamJSON
import FormStreamHTTP

/// The state of a transfer after all steps so far: the last step, the rate, and the part that is being sent.
struct ProgressTrack: Sendable {
  fileprivate let file: String?
  /// Whether the received bytes are shown in place of the sent bytes.
  fileprivate let isDownload: Bool
  /// Whether the body is a form. Its parts are not known before it is laid out, and never if it is compressed.
  fileprivate let isForm: Bool
  private(set) var latest: ProgressSnapshot?
  fileprivate var meter = RateMeter()
  fileprivate var cursor = PartCursor()
  fileprivate var fileCount: Int?
  /// Whether the transfer has waited for the response: then a body of unknown length was sent completely.
  private var hasWaited = false

  init(file: String?, isDownload: Bool = false, isForm: Bool = false) {
    (self.file, self.isDownload, self.isForm) = (file, isDownload, isForm)
  }

  /// Adds a step. Returns false if nothing is new except the time.
  mutating func update(_ snapshot: ProgressSnapshot, at time: ContinuousClock.Instant) -> Bool {
    // The rate starts when sending starts: connecting does not count, and neither do the bytes that the system
    // buffered at once.
    let snapshot = isDownload ? snapshot.receiving : snapshot
    let moved = moved(snapshot)
    if snapshot.isMoving, latest?.isMoving != true || moved < latest.map(self.moved) ?? 0 {
      meter.restart(at: time, bytes: moved)
    }
    let isNew = latest.map { !$0.isEquivalent(to: snapshot) } ?? true
    switch snapshot.phase {
    case .waiting: hasWaited = true
    case .done: break
    default: hasWaited = false
    }
    latest = snapshot
    if snapshot.parts.count > 0 {
      fileCount =
        fileCount
        ?? (0..<snapshot.parts.count).reduce(0) { $0 + (snapshot.parts[$1].isFile ? 1 : 0) }
      cursor.advance(over: snapshot.parts, isComplete: isComplete)
    }
    meter.add(moved, at: time)
    return isNew
  }

  /// The number of bytes whose rate is shown.
  fileprivate func moved(_ snapshot: ProgressSnapshot) -> Int64 {
    isDownload ? snapshot.received : snapshot.handed
  }

  mutating func updateRate(at time: ContinuousClock.Instant) {
    if let latest { meter.add(moved(latest), at: time) }
  }

  fileprivate var isComplete: Bool {
    guard let latest else { return false }
    if isDownload { return latest.phase == .done && !latest.hasFailed }
    return latest.total.map { latest.handed >= $0 } ?? hasWaited
  }

  /// The state at a time; nil before the first step.
  func view(at time: ContinuousClock.Instant) -> View? {
    latest.map { View(track: self, latest: $0, time: time) }
  }

  /// The state at a time.
  struct View: ProgressView {
    fileprivate let track: ProgressTrack
    fileprivate let latest: ProgressSnapshot
    fileprivate let time: ContinuousClock.Instant
  }
}

// MARK: For people

extension ProgressTrack.View {
  func status(_ size: TerminalSize, isColored: Bool) -> [String] {
    [ProgressLine.line(shown, columns: size.columns, isColored: isColored)]
  }

  var heartbeat: String {
    let shown = shown
    return [shown.item?.name ?? "", Heartbeat.line(shown)].filter { !$0.isEmpty }
      .joined(separator: ": ")
  }

  /// The line that stays at the end; nil if there is nothing to say.
  var lastLine: String? { Heartbeat.lastLine(shown, elapsed: latest.elapsed) }

  private var shown: ShownProgress {
    let moved = track.moved(latest)
    return ShownProgress(
      phase: latest.phase, item: item, isDownload: track.isDownload, handed: moved,
      total: track.isDownload ? latest.responseTotal : latest.total, received: latest.received,
      read: latest.read, rate: track.meter.rate(moved, at: time))
  }

  private var item: ShownProgress.Item? {
    let current = track.cursor.current
    guard current < latest.parts.count else {
      return track.file.map { ShownProgress.Item(name: $0) }
    }
    let part = latest.parts[current]
    let isLast = current == latest.parts.count - 1
    return ShownProgress.Item(
      name: part.name, number: current + 1, count: latest.parts.count,
      isNumberLowerBound: part.sent == nil && !isLast)
  }
}

// MARK: For scripts

extension ProgressTrack.View {
  var record: JSONValue {
    let count = latest.parts.count
    let (current, isComplete, shown) = (track.cursor.current, track.isComplete, shown)
    let listedParts =
      count > ProgressDisplay.maximumParts ? current..<(current + 1) : 0..<count
    return progressRecord(
      phase: latest.phase.rawValue, read: latest.read, handed: latest.handed,
      acknowledged: latest.acknowledged, total: latest.total, received: latest.received,
      responseTotal: latest.responseTotal,
      parts: listedParts.map { index in
        let part = latest.parts[index]
        return (part.name, isComplete ? part.size ?? part.sent : part.sent, part.size)
      },
      filesDone: count > 0 ? track.cursor.filesDone : track.file != nil && isComplete ? 1 : 0,
      filesTotal: count > 0 ? track.fileCount : track.isForm ? nil : track.file == nil ? 0 : 1,
      rate: shown.rate, left: shown.left)
  }
}
