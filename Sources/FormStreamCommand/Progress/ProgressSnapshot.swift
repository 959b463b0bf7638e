package import FormStreamHTTP

/// The progress of a transfer, as the display needs it.
package struct ProgressSnapshot: Sendable {
  package var phase: TransferProgress.Phase
  package var read: Int64
  package var handed: Int64
  package var acknowledged: Int64?
  package var total: Int64?
  package var received: Int64
  package var responseTotal: Int64?
  package var elapsed: Duration
  package var parts: Parts
  /// Whether the request has failed: the received bytes are then not a complete file.
  var hasFailed = false

  package init(
    phase: TransferProgress.Phase, read: Int64 = 0, handed: Int64 = 0, acknowledged: Int64? = nil,
    total: Int64? = nil, received: Int64 = 0, responseTotal: Int64? = nil,
    elapsed: Duration = .zero, parts: Parts = Parts([])
  ) {
    self.phase = phase
    self.read = read
    self.handed = handed
    self.acknowledged = acknowledged
    self.total = total
    self.received = received
    self.responseTotal = responseTotal
    self.elapsed = elapsed
    self.parts = parts
  }

  init(_ progress: TransferProgress) {
    self.init(
      phase: progress.phase, read: progress.read, handed: progress.handedOver,
      acknowledged: progress.acknowledged, total: progress.total, received: progress.received,
      responseTotal: progress.responseTotal, elapsed: progress.elapsed, parts: Parts(progress))
  }
}

extension TransferProgress.Phase {
  /// The body of the response is being received. Only a download shows this phase; otherwise it counts as waiting.
  static let receiving = Self(rawValue: "receiving")
}

extension ProgressSnapshot {
  /// This snapshot for a download: after the head of the response, its phase is `receiving` in place of `waiting`.
  var receiving: ProgressSnapshot {
    var snapshot = self
    if phase == .waiting, received > 0 || responseTotal != nil { snapshot.phase = .receiving }
    return snapshot
  }

  /// Whether the body is being sent or, in a download, received.
  var isMoving: Bool { phase == .sending || phase == .receiving }

  /// Whether the records of both snapshots would be equal, except for times and rates. Parts change only if `handed`
  /// does.
  func isEquivalent(to other: ProgressSnapshot) -> Bool {
    phase == other.phase && (read, handed, received) == (other.read, other.handed, other.received)
      && (acknowledged, total) == (other.acknowledged, other.total)
      && responseTotal == other.responseTotal
      && parts.count == other.parts.count
  }

  /// One part of a form.
  package struct Part: Sendable {
    package var name: String
    package var isFile: Bool
    /// How many bytes of the part were handed over; nil if the number is not known.
    package var sent: Int64?
    /// How many bytes the part has; nil if the number is not known.
    package var size: Int64?

    package init(name: String, isFile: Bool = true, sent: Int64?, size: Int64?) {
      self.name = name
      self.isFile = isFile
      self.sent = sent
      self.size = size
    }
  }

  /// The parts of a form. Each part is made on demand, because there may be tens of thousands.
  package struct Parts: Sendable {
    package let count: Int
    private let part: @Sendable (Int) -> Part

    package init(count: Int, _ part: @escaping @Sendable (Int) -> Part) {
      self.count = count
      self.part = part
    }

    package init(_ parts: [Part]) {
      count = parts.count
      part = { parts[$0] }
    }

    init(_ progress: TransferProgress) {
      let parts = progress.parts
      count = parts.count
      part = { index in
        let part = parts[parts.index(parts.startIndex, offsetBy: index)]
        return Part(
          name: part.name, isFile: part.filename != nil, sent: part.sent, size: part.size)
      }
    }

    package subscript(index: Int) -> Part { part(index) }
  }
}
