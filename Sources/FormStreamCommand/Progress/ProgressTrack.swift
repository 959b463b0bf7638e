import FormStreamRecords
import FormStreamTransfer

/// What is known of a transfer from all the steps so far: beside the last one, the rate and the part under way.
struct ProgressTrack: Sendable {
  private let file: String?
  private(set) var latest: ProgressSnapshot?
  private var meter = RateMeter()
  private var cursor = PartCursor()
  private var fileCount: Int?
  /// Whether all of a body of unknown length went; of others the count tells it.
  private var hasWaited = false

  init(file: String?) {
    self.file = file
  }

  /// Takes a step; false where nothing is new but the time.
  mutating func note(_ snapshot: ProgressSnapshot, at time: ContinuousClock.Instant) -> Bool {
    let isNew = latest.map { !$0.tellsSame(as: snapshot) } ?? true
    // A rate begins with the sending: looking for a server is not slow sending, and what the system took at
    // once says nothing of the line.
    if snapshot.phase == .sending, latest?.phase != .sending {
      meter.restart(at: time, bytes: snapshot.handed)
    }
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
      cursor.advance(over: snapshot.parts, isWhole: isWhole)
    }
    meter.note(snapshot.handed, at: time)
    return isNew
  }

  mutating func note(at time: ContinuousClock.Instant) {
    if let latest { meter.note(latest.handed, at: time) }
  }

  private var isWhole: Bool {
    guard let latest else { return false }
    return latest.total.map { latest.handed >= $0 } ?? hasWaited
  }

  // MARK: For people

  func shown(at time: ContinuousClock.Instant) -> ShownProgress? {
    guard let latest else { return nil }
    return ShownProgress(
      phase: latest.phase, item: item, handed: latest.handed, total: latest.total,
      received: latest.received, rate: meter.rate(latest.handed, at: time))
  }

  func lastLine(at time: ContinuousClock.Instant) -> String? {
    guard let latest, let shown = shown(at: time) else { return nil }
    return Heartbeat.lastLine(shown, elapsed: latest.elapsed)
  }

  private var item: ShownProgress.Item? {
    guard let latest else { return nil }
    guard cursor.current < latest.parts.count else {
      return file.map { ShownProgress.Item(name: $0) }
    }
    let part = latest.parts[cursor.current]
    let isLast = cursor.current == latest.parts.count - 1
    return ShownProgress.Item(
      name: part.name, number: cursor.current + 1, count: latest.parts.count,
      isAtLeast: part.sent == nil && !isLast)
  }

  // MARK: For scripts

  func record(at time: ContinuousClock.Instant) -> ProgressRecord? {
    guard let latest, let shown = shown(at: time) else { return nil }
    let count = latest.parts.count
    let listed =
      count > ProgressDisplay.maximumParts ? cursor.current..<(cursor.current + 1) : 0..<count
    return ProgressRecord(
      phase: latest.phase.rawValue, read: latest.read, handed: latest.handed,
      acknowledged: latest.acknowledged, total: latest.total,
      parts: listed.map { index in
        let part = latest.parts[index]
        return ProgressRecord.Part(
          name: part.name, sent: isWhole ? part.size ?? part.sent : part.sent, size: part.size)
      },
      filesDone: count > 0 ? cursor.filesDone : file != nil && isWhole ? 1 : 0,
      filesTotal: count > 0 ? fileCount : file == nil ? 0 : 1,
      rate: shown.rate ?? .nan, eta: shown.left.map { $0 / .seconds(1) })
  }
}
