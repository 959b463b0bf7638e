import FormStreamMultipart

/// The progress of a transfer. It counts the bytes of the body alone, without heads and framing.
public struct TransferProgress: Sendable {
  /// What the transfer is doing.
  public struct Phase: RawRepresentable, Hashable, Sendable {
    /// The phase as written in records.
    public let rawValue: String

    /// Creates a phase from its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The transfer waits for other requests to the same host; see ``TransferSession/Configuration/maximumConnectionsPerHost``.
    public static let queued = Phase(rawValue: "queued")
    /// The transfer reads a body of unknown length before it connects to the server; see ``TransferOptions/readAhead`` and
    /// ``TransferOptions/spoolsBody``.
    public static let reading = Phase(rawValue: "reading")
    /// The transfer connects to the server, or waits for the response to `Expect: 100-continue`.
    public static let connecting = Phase(rawValue: "connecting")
    /// The transfer sends the body.
    public static let sending = Phase(rawValue: "sending")
    /// The complete body was handed over; the transfer waits for the response, or receives it.
    public static let waiting = Phase(rawValue: "waiting")
    /// An attempt failed, and the next one follows.
    public static let retrying = Phase(rawValue: "retrying")
    /// The transfer has ended.
    public static let done = Phase(rawValue: "done")
  }

  /// What the transfer is doing.
  public internal(set) var phase = Phase.connecting
  /// How many bytes were read from the source.
  public internal(set) var read: Int64 = 0
  /// How many bytes were handed over to the system's network. A second attempt changes the count only after it has passed the
  /// first attempt. The last byte is an exception: if a body that was handed over completely is sent again, the count is one
  /// less than ``total`` until the second attempt has handed over everything, too.
  public internal(set) var handedOver: Int64 = 0
  /// How many bytes the other side's system has acknowledged. Under TLS this is an approximation; with HTTP/2 it is
  /// nil, because requests share a connection. If the server keeps the upload (``TransferOptions/resumption``), these are the
  /// bytes that the server itself has confirmed.
  public internal(set) var acknowledged: Int64?
  /// The length of the body; nil if it can't be known.
  public internal(set) var total: Int64?
  /// Whether a response has arrived.
  public internal(set) var hasResponse = false
  /// The number of the current attempt, from 1.
  public internal(set) var attempt = 1
  /// How many bytes of the response's body were received.
  public internal(set) var received: Int64 = 0
  /// The length of the response's body; nil before its head has arrived, and if the server doesn't announce it.
  public internal(set) var responseTotal: Int64?
  /// The time since the transfer started.
  public internal(set) var elapsed: Duration = .zero
  /// The tag of the request; see ``TransferRequest/tag``.
  public internal(set) var tag: (any Sendable)?

  var layout: BodyLayout?
  /// Whether the request has a body.
  var hasBody = false
  /// How many bytes the current attempt has handed over.
  var handedOverByAttempt: Int64 = 0

  init() {}

  /// Creates a state, for tests of code that shows progress. The bytes that were handed over were also read.
  public init(
    _ phase: Phase, handedOver: Int64 = 0, total: Int64?, acknowledged: Int64? = nil,
    received: Int64 = 0, responseTotal: Int64? = nil, attempt: Int = 1, elapsed: Duration = .zero,
    tag: (any Sendable)? = nil
  ) {
    self.phase = phase
    read = handedOver
    self.handedOver = handedOver
    self.acknowledged = acknowledged
    self.total = total
    hasBody = true
    handedOverByAttempt = handedOver
    hasResponse = phase == .done
    self.received = received
    self.responseTotal = responseTotal
    self.attempt = attempt
    self.elapsed = elapsed
    self.tag = tag
  }

  /// Takes the last byte back if the current attempt has not handed it over: without that byte, the body is not complete.
  mutating func holdLastByte() {
    guard let total, total > 0, handedOverByAttempt < total else { return }
    handedOver = min(handedOver, total - 1)
    acknowledged = acknowledged.map { min($0, handedOver) }
  }

  /// The fraction of the request's body that was handed over, from 0 to 1; nil if there is no body, or if the total can't
  /// be known. It is 1 only after the last byte was handed over, or after the request itself if its body is empty.
  public var fraction: Double? {
    guard hasBody, let total else { return nil }
    if total == 0 { return isComplete ? 1 : 0 }
    return Self.fraction(handedOver, of: total)
  }

  /// The fraction of the response's body that was received, from 0 to 1; nil if its total is not known. It is 1 only
  /// after the last byte.
  public var responseFraction: Double? {
    responseTotal.map { Self.fraction(received, of: $0) }
  }

  private static func fraction(_ count: Int64, of total: Int64) -> Double {
    count < total ? min(Double(count) / Double(total), 1.0.nextDown) : 1
  }

  /// The progress of one part of a form.
  public struct PartProgress: Sendable {
    /// The part's name.
    public let name: String
    /// The part's file name.
    public let filename: String?
    /// How many of the part's bytes were handed over, counted like ``TransferProgress/handedOver``. Nil if this can't be known,
    /// because the part, or a part before it, has an unknown length.
    public let sent: Int64?
    /// The part's length; nil if it can't be known.
    public let size: Int64?
  }

  /// The progress of each part of the form. The elements are computed on access, so that a form with tens of thousands
  /// of parts costs nothing until then.
  public var parts: some RandomAccessCollection<PartProgress> & Sendable {
    PartProgressList(
      layout: layout, handedOver: handedOver, handedOverByAttempt: handedOverByAttempt)
  }

  /// Whether a request without body bytes was sent.
  private var isComplete: Bool { phase == .waiting || phase == .done && hasResponse }
}
