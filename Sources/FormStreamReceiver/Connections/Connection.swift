import FormStreamPlatform

/// The timing of a client's connection: the connection's own thread sets the phase, and the monitor thread checks how
/// long the phase lasts.
final class Connection: Sendable {
  /// What the connection is doing.
  enum Phase {
    /// Waiting for a request's head, or receiving it.
    case head
    /// The head is complete; the body, if there is one, is being received.
    case body
    /// The response is being sent.
    case response
    /// The response is sent and reported. If it was the connection's last, what the client still sends is discarded
    /// for a while.
    case lingering
    /// The receiver has shut the connection down.
    case cut
    /// The socket is closed; its number may belong to another connection.
    case closed
  }

  /// The properties of the request in progress that a refusal reports.
  struct RequestProgress {
    var framing = UploadRequest.Framing.none
    var contentLength: Int64?
    var bodyBytes: Int64 = 0
  }

  /// Makes the bytes of the response to a client that is cut off.
  typealias RefusalResponse = @Sendable (UploadRefusal, RequestProgress) -> [UInt8]

  private struct State {
    var request = RequestProgress()
    var phase = Phase.head
    /// When the phase began; for a body, when the current measuring period began.
    var since = ContinuousClock.now
    /// The bytes of the body received since `since`.
    var bytes = 0
    /// When the handling of received bytes began; nil if none are being handled. That time doesn't count against the
    /// client.
    var handlingSince: ContinuousClock.Instant?
    var cutReason: UploadRefusal?
    var isCutReasonSent = false
  }

  let peer: String
  let isTLS: Bool
  private let socket: Socket
  private let state = Guarded(State())

  init(_ socket: Socket, peer: String, isTLS: Bool) {
    self.socket = socket
    self.peer = peer
    self.isTLS = isTLS
  }

  /// Why the connection was cut off.
  var cutReason: UploadRefusal? { state.withLock(\.cutReason) }

  /// Whether the connection was cut off, and the status that was sent to the client.
  var cut: (isCut: Bool, status: Int?) {
    state.withLock { ($0.phase == .cut, $0.isCutReasonSent ? $0.cutReason?.status : nil) }
  }

  /// Whether a request has begun and is not finished.
  var isBusy: Bool {
    state.withLock { state in
      switch state.phase {
      case .body, .response, .lingering: true
      case .head, .cut, .closed: false
      }
    }
  }

  func enter(_ phase: Phase) {
    state.withLock { state in
      guard state.phase != .closed, state.phase != .cut || phase == .closed else { return }
      state.phase = phase
      state.since = .now
      state.bytes = 0
      state.handlingSince = nil
    }
  }

  /// Enters the body phase: a head is complete.
  func beginBody(_ framing: UploadRequest.Framing, length: Int64?) {
    enter(.body)
    state.withLock { $0.request = RequestProgress(framing: framing, contentLength: length) }
  }

  /// Stops the client's clock while a head, bytes of a body or its end are handled; returns false if the connection
  /// was cut off.
  func beginHandling(_ count: Int) -> Bool {
    state.withLock { state in
      guard state.phase == .body else { return false }
      state.bytes += count
      state.request.bodyBytes += Int64(count)
      state.handlingSince = .now
      return true
    }
  }

  func endHandling() {
    state.withLock { state in
      guard let begun = state.handlingSince else { return }
      state.since += .now - begun
      state.handlingSince = nil
    }
  }

  /// Sends a response without libmicrohttpd, and discards what the client still sends until it has read the response.
  /// Closing a socket with unread bytes sends a reset, which may reach the client before the response.
  func sendLastResponse(_ bytes: [UInt8]) {
    enter(.lingering)
    socket.sendAndDrain(bytes, within: .seconds(5))
  }

  /// Cuts the connection off if a time limit is exceeded. In the middle of a body, the reason is sent to the client if
  /// possible.
  func cutIfLate(_ limits: Receiver.Limits, sending refusalResponse: RefusalResponse) {
    state.withLock { state in
      let time = ContinuousClock.now - state.since
      switch state.phase {
      case .head where time >= limits.headTime, .response where time >= limits.responseTime:
        cut(&state)
      case .body where state.handlingSince == nil && time >= limits.idleTime:
        let minimumBytes = Double(limits.minimumRate) * (limits.idleTime / .seconds(1))
        if state.bytes > 0, Double(state.bytes) >= minimumBytes {
          state.since = .now
          state.bytes = 0
          return
        }
        let refusal = UploadRefusal(
          .tooSlow, status: 408,
          "The body arrived too slowly: \(state.bytes) bytes in the last \(limits.idleTime). Send at least "
            + "\(limits.minimumRate) bytes a second.")
        send(refusal, refusalResponse, &state)
        cut(&state)
      default: break
      }
    }
  }

  /// Under TLS only libmicrohttpd could send it.
  private func send(
    _ refusal: UploadRefusal, _ refusalResponse: RefusalResponse, _ state: inout State
  ) {
    state.cutReason = refusal
    guard !isTLS, state.handlingSince == nil else { return }
    state.isCutReasonSent = socket.sendAtOnce(refusalResponse(refusal, state.request))
  }

  /// Cuts the connection off because the receiver stops.
  ///
  /// - Parameter evenIfBusy: whether a request in progress is cut off too.
  func cut(evenIfBusy: Bool, sending refusalResponse: RefusalResponse) {
    state.withLock { state in
      guard evenIfBusy || state.phase == .head else { return }
      if state.phase == .body {
        let refusal = UploadRefusal(
          .stopping, status: 503, "The receiver was stopped before the body was complete.")
        send(refusal, refusalResponse, &state)
      }
      cut(&state)
    }
  }

  private func cut(_ state: inout State) {
    guard state.phase != .closed else { return }
    state.phase = .cut
    socket.shutDown()
  }
}
