import FormStreamTransfer

/// Progress in lines of text, for logs: where there is no terminal to draw on.
package enum Heartbeat {
  /// How far it is: `123 MiB of 1.2 GiB sent (10 %), 35 MiB/s, 31 s left`.
  package static func line(_ progress: ShownProgress) -> String {
    var words = [progress.sent, progress.state].compactMap(\.self)
    if progress.phase == .sending {
      if let rate = progress.rate { words.append(Quantity.rate(rate)) }
      if let left = progress.left { words.append("\(Quantity.time(left)) left") }
    }
    return words.isEmpty ? progress.phase.rawValue : words.joined(separator: ", ")
  }

  /// How far it came, once it is over: `1.2 GiB sent in 34 s`.
  package static func lastLine(_ progress: ShownProgress, elapsed: Duration) -> String? {
    let received =
      progress.received > 0 ? "\(Quantity.size(progress.received)) received" : nil
    guard let what = progress.sent ?? received else { return nil }
    return "\(what) in \(Quantity.time(elapsed))"
  }
}
