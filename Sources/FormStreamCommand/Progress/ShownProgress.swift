package import FormStreamTransfer

/// What people are told of a transfer: the bar and the heartbeat are two ways to write it.
package struct ShownProgress: Sendable {
  /// What is on its way by now.
  package struct Item: Sendable {
    /// The part's name, or that of the file that is the body.
    package var name: String
    /// Its place in the form, from 1, and how many there are.
    package var number = 1
    package var count = 1
    /// Whether it may be a later one already: behind a part of unknown length that can't be told.
    package var isAtLeast = false

    package init(name: String, number: Int = 1, count: Int = 1, isAtLeast: Bool = false) {
      self.name = name
      self.number = number
      self.count = count
      self.isAtLeast = isAtLeast
    }
  }

  package var phase: TransferProgress.Phase
  package var item: Item?
  package var handed: Int64
  package var total: Int64?
  package var received: Int64
  /// Bytes a second; nil where that can't be told yet.
  package var rate: Double?

  package init(
    phase: TransferProgress.Phase, item: Item? = nil, handed: Int64 = 0, total: Int64? = nil,
    received: Int64 = 0, rate: Double? = nil
  ) {
    self.phase = phase
    self.item = item
    self.handed = handed
    self.total = total
    self.received = received
    self.rate = rate
  }

  /// How much was sent; nil where the total can't be known, and where there is nothing to send.
  var percentage: Int? {
    total.flatMap { Quantity.percentage(of: $0, done: handed) }
  }

  /// How long it still takes at this rate; nil where that can't be told, or it is too far off to mean much.
  var left: Duration? {
    guard phase == .sending, let total, let rate, rate > 0, handed < total else { return nil }
    let seconds = Double(total - handed) / rate
    return seconds < 100 * 86400 ? .seconds(seconds) : nil
  }

  /// What is going on, where it is not the sending itself.
  var state: String? {
    switch phase {
    case .connecting: "connecting"
    case .retrying: "trying again"
    case .waiting where received > 0: "\(Quantity.size(received)) of the answer received"
    case .waiting: "waiting for the answer"
    default: nil
    }
  }

  /// What was sent, for a line of text.
  var sent: String? {
    guard total != 0, handed > 0 || phase == .sending else { return nil }
    let size = Quantity.size(handed)
    guard let total, let percentage, handed < total else { return "\(size) sent" }
    return "\(size) of \(Quantity.size(total)) sent (\(percentage) %)"
  }
}
