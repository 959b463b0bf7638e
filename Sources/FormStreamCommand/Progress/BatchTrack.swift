import FormStreamBatch

/// The state of a batch after all steps so far: the last step, and the rates.
struct BatchTrack {
  /// Requests that take less time are not shown, because people could not read their lines.
  private static let shownAfter = Duration.milliseconds(300)

  private(set) var latest: BatchProgress?
  private var bytes = RateMeter()
  private var files = RateMeter()
  /// When each request in progress was first seen, by the number of the request.
  private var firstSeen: [Int: ContinuousClock.Instant] = [:]

  /// Adds a step. Returns false if nothing is new except the time.
  mutating func update(_ snapshot: BatchProgress, at time: ContinuousClock.Instant) -> Bool {
    var snapshot = snapshot
    // A run that has read nothing yet of what was just listed and compared has nothing to show. Perhaps nothing is new.
    if latest?.stage == .comparing, snapshot.stage == .sending, snapshot.listed == 0, !snapshot.isListed { return false }
    if let latest {
      // The number of bytes handed over never falls, even if a request failed and its file is sent again. But it
      // reaches the total only when the last byte was handed over again.
      let most = snapshot.total.map { snapshot.handed < $0 ? $0 - 1 : .max } ?? .max
      snapshot.read = max(snapshot.read, latest.read)
      snapshot.handed = max(snapshot.handed, min(latest.handed, most))
      snapshot.acknowledged = max(snapshot.acknowledged, latest.acknowledged)
    }
    let isNew = latest.map { !$0.isEquivalent(to: snapshot) } ?? true
    latest = snapshot
    firstSeen = snapshot.requests.reduce(into: [:]) { seen, request in
      seen[request.id] = firstSeen[request.id] ?? time
    }
    bytes.add(snapshot.handed, at: time)
    files.add(snapshot.doneNow, at: time)
    return isNew
  }

  /// The state at a time; nil before the first step.
  func view(at time: ContinuousClock.Instant) -> BatchView? {
    guard let latest else { return nil }
    let rate = bytes.rate(latest.handed, at: time)
    return BatchView(
      progress: latest, rate: rate,
      left: timeLeft(latest, rate, files.rate(latest.doneNow, at: time)),
      shownRequests: latest.requests.filter { request in
        firstSeen[request.id].map { time - $0 >= Self.shownAfter } ?? false
      })
  }

  /// The time that the bytes or the files still take at these rates, whichever is longer; nil if it is not known, or
  /// longer than 100 days. For small files, most of the time is not spent on their bytes.
  private func timeLeft(
    _ snapshot: BatchProgress, _ bytesPerSecond: Double?, _ filesPerSecond: Double?
  ) -> Duration? {
    guard snapshot.stage == .sending, snapshot.isListed else { return nil }
    let amounts = [
      (Double(snapshot.left), bytesPerSecond),
      (Double(snapshot.listed - snapshot.done), filesPerSecond),
    ]
    let seconds = amounts.compactMap { amount, rate in
      rate.flatMap { $0 > 0 && amount > 0 ? amount / $0 : nil }
    }
    return seconds.max().flatMap { $0 < 100 * 86400 ? .seconds($0) : nil }
  }
}

extension BatchProgress {
  /// How many files this run has finished, without the files that it skipped.
  fileprivate var doneNow: Int64 { Int64(done - skipped) }

  /// Whether the records of both snapshots would be equal, except for times and rates.
  fileprivate func isEquivalent(to other: BatchProgress) -> Bool {
    (stage, listed, isListed, done) == (other.stage, other.listed, other.isListed, other.done)
      && preparation == other.preparation
      && (read, handed, acknowledged) == (other.read, other.handed, other.acknowledged)
      && requests.map(\.id) == other.requests.map(\.id)
  }
}
