import FormStreamHTTP

/// Progress as lines of text, for logs and other outputs that are not a terminal.
package enum Heartbeat {
  /// The current state: `123 MiB of 1.2 GiB sent (10 %), 35 MiB/s, 31 s left`.
  package static func line(_ progress: ShownProgress) -> String {
    var words = [progress.sent, progress.state].compactMap(\.self)
    if progress.isMoving {
      if let rate = progress.rate { words.append(HumanReadable.rate(rate)) }
      if let left = progress.left { words.append("\(HumanReadable.time(left)) left") }
    }
    return words.isEmpty ? progress.phase.rawValue : words.joined(separator: ", ")
  }

  /// The last state: `1.2 GiB sent in 34 s, 36 MiB/s on average`. Nil if there is nothing to say.
  package static func lastLine(_ progress: ShownProgress, elapsed: Duration) -> String? {
    let received =
      progress.received > 0 ? "\(HumanReadable.size(progress.received)) received" : nil
    guard let bytes = progress.sent ?? received else { return nil }
    let moved = progress.sent == nil ? progress.received : progress.handed
    let time = "\(bytes) in \(HumanReadable.elapsed(elapsed))"
    guard elapsed >= RateMeter.minimumTime else { return time }
    return "\(time), \(HumanReadable.rate(Double(moved) / (elapsed / .seconds(1)))) on average"
  }
}
