import FormStreamMultipart

/// How far a transfer is. What is counted here, is counted by us and is the body alone: no head, no framing.
public struct TransferProgress: Sendable {
  /// What is being done.
  public struct Phase: RawRepresentable, Hashable, Sendable {
    /// The phase as it stands in records.
    public let rawValue: String

    /// Takes a phase by its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// A server is looked for, or leave to send is waited for.
    public static let connecting = Phase(rawValue: "connecting")
    /// The body goes out.
    public static let sending = Phase(rawValue: "sending")
    /// All of it was handed over; the answer is waited for, or comes.
    public static let waiting = Phase(rawValue: "waiting")
    /// An attempt failed; the next one comes.
    public static let retrying = Phase(rawValue: "retrying")
    /// It is over.
    public static let done = Phase(rawValue: "done")
  }

  /// What is being done.
  public internal(set) var phase = Phase.connecting
  /// How many bytes were read from the source.
  public internal(set) var read: Int64 = 0
  /// How many bytes the system's network has taken. In a second attempt it stands still until that has come as
  /// far as the first: it never goes back.
  public internal(set) var handedOver: Int64 = 0
  /// How many bytes the other side's system has confirmed: a little less than it has, by what still travels.
  /// Under TLS it is an approximation, and with HTTP/2 it is nil: there other transfers share the connection.
  public internal(set) var acknowledged: Int64?
  /// How many bytes there are; nil where that can't be known.
  public internal(set) var total: Int64?
  /// Whether the server has answered.
  public internal(set) var hasResponse = false
  /// Which attempt this is, from 1.
  public internal(set) var attempt = 1
  /// How many bytes of the answer's body have come.
  public internal(set) var received: Int64 = 0
  /// How long the transfer has lasted.
  public internal(set) var elapsed: Duration = .zero

  let layout: BodyLayout?

  /// The part of the body that was handed over, from 0 to 1; nil where the total can't be known. It is 1 only
  /// once the last byte was handed over, or the request itself where there is no byte.
  public var fraction: Double? {
    guard let total else { return nil }
    if total == 0 { return isWhole ? 1 : 0 }
    guard handedOver < total else { return 1 }
    return min(Double(handedOver) / Double(total), 1.0.nextDown)
  }

  /// How far one part of a form is.
  public struct PartProgress: Sendable {
    /// The part's name.
    public let name: String
    /// The part's file name.
    public let filename: String?
    /// How many of its bytes were handed over; nil behind a part of unknown length, where that can't be told.
    public let sent: Int64?
    /// How many bytes it has; nil where that can't be known.
    public let size: Int64?
  }

  /// How far each part of the form is. They are worked out when they are asked for: tens of thousands of them
  /// cost nothing until then.
  public var parts: some RandomAccessCollection<PartProgress> & Sendable {
    PartList(layout: layout, handedOver: handedOver)
  }

  private var isWhole: Bool { phase == .waiting || phase == .done && hasResponse }
}

/// The parts of a layout, as far as they were handed over.
private struct PartList: RandomAccessCollection, Sendable {
  let layout: BodyLayout?
  let handedOver: Int64

  var startIndex: Int { 0 }
  var endIndex: Int { layout?.partCount ?? 0 }

  subscript(position: Int) -> TransferProgress.PartProgress {
    // As of any collection: an index that was not among its indices is the caller's mistake. Outside data
    // makes none.
    guard let layout else { preconditionFailure("There are no parts without a layout.") }
    let placed = layout.placedPart(at: position)
    var sent: Int64?
    if let start = placed.bodyOffset {
      // Of a part of unknown length, and what is behind it, no more is known than that all of it went.
      if let size = placed.bodyLength {
        sent = Swift.min(Swift.max(handedOver - start, 0), size)
      } else if handedOver <= start {
        sent = 0
      }
    }
    return TransferProgress.PartProgress(
      name: placed.part.name, filename: placed.part.filename, sent: sent, size: placed.bodyLength)
  }
}

/// How often progress is told.
public struct ProgressPace: Sendable, Hashable {
  /// The least time between two reports; the first and the last always come.
  public let interval: Duration

  /// At most twenty times a second.
  public static let smooth = ProgressPace(interval: .milliseconds(50))
  /// Whenever something moves.
  public static let all = ProgressPace(interval: .zero)

  /// A pace of one's own.
  public static func atMost(every interval: Duration) -> ProgressPace {
    ProgressPace(interval: interval)
  }
}
