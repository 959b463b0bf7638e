package import FormStreamHTTP

/// What the bar and the heartbeat show of a transfer.
package struct ShownProgress: Sendable {
  /// The part or the file that is being sent or received.
  package struct Item: Sendable {
    /// The name of the part, or of the file that is the body.
    package var name: String
    /// The number of the part in the form, from 1, and the number of all parts.
    package var number = 1
    package var count = 1
    /// Whether `number` is only a lower bound: after a part of unknown length, a later part may be in progress.
    package var isNumberLowerBound = false

    package init(name: String, number: Int = 1, count: Int = 1, isNumberLowerBound: Bool = false) {
      self.name = name
      self.number = number
      self.count = count
      self.isNumberLowerBound = isNumberLowerBound
    }
  }

  package var phase: TransferProgress.Phase
  package var item: Item?
  /// Whether the bytes are received, and not sent.
  package var isDownload: Bool
  /// How many bytes were handed over or, in a download, received.
  package var handed: Int64
  package var total: Int64?
  package var received: Int64
  /// How many bytes of the body were read.
  package var read: Int64
  /// Bytes a second; nil if it is too early for a rate.
  package var rate: Double?

  package init(
    phase: TransferProgress.Phase, item: Item? = nil, isDownload: Bool = false, handed: Int64 = 0,
    total: Int64? = nil,
    received: Int64 = 0, read: Int64 = 0, rate: Double? = nil
  ) {
    self.phase = phase
    self.item = item
    self.isDownload = isDownload
    self.handed = handed
    self.total = total
    self.received = received
    self.read = read
    self.rate = rate
  }

  /// Whether bytes are being sent or received.
  var isMoving: Bool { phase == .sending || phase == .receiving }

  /// The percentage that was sent or received; nil if the total is not known or is 0.
  var percentage: Int? {
    total.flatMap { HumanReadable.percentage(of: $0, done: handed) }
  }

  /// The time left at this rate; nil if it is not known, or longer than 100 days.
  var left: Duration? {
    guard isMoving, let total, let rate, rate > 0, handed < total else { return nil }
    let seconds = Double(total - handed) / rate
    return seconds < 100 * 86400 ? .seconds(seconds) : nil
  }

  /// The phase in words; nil while the body is being sent.
  var state: String? {
    switch phase {
    case .reading: "\(HumanReadable.size(read)) of the body read"
    case .connecting: "connecting"
    case .retrying: "trying again"
    case .waiting where received > 0 && !isDownload:
      "\(HumanReadable.size(received)) of the response received"
    case .waiting: "waiting for the response"
    default: nil
    }
  }

  /// How much was sent or received, for a line of text.
  var sent: String? {
    guard total != 0, handed > 0 || isMoving else { return nil }
    let (size, verb) = (HumanReadable.size(handed), isDownload ? "received" : "sent")
    guard let total, let percentage, handed < total else { return "\(size) \(verb)" }
    return "\(size) of \(HumanReadable.size(total)) \(verb) (\(percentage) %)"
  }
}
