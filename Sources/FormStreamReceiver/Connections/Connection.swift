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

  /// How well a connection can be spared; the greatest value goes first.
  enum Spareability: Comparable {
    /// The connection is being closed, and makes room anyway.
    case leaving
    /// A request is in progress, or may be on its way.
    case needed
    /// The body in progress arrives by so many bytes a second below the minimum rate.
    case slow(missingRate: Double)
    /// There has been no request for that time.
    case idle(Duration)
  }

  /// Makes the response to a client that is cut off in the middle of its body, and notes it for the record of the
  /// request; nil if the client can't get one. It is called under the lock of the connection, and only while the
  /// connection's thread waits for the client.
  typealias LastResponse = (UploadRefusal) -> (status: Int, bytes: [UInt8])?

  private struct State {
    /// Of the request in progress.
    var lastResponse: LastResponse?
    var phase = Phase.head
    /// When the phase began; for a body, when the current measuring period began.
    var since = ContinuousClock.now
    /// The bytes of the body received since `since`.
    var bytes = 0
    /// When the handling of received bytes began; nil if none are being handled. That time doesn't count against the
    /// client.
    var handlingSince: ContinuousClock.Instant?
    var cutReason: UploadRefusal?
    /// The status of the response that was sent to a client that was cut off.
    var sentStatus: Int?
  }

  let peer: String
  /// The client's address, as the bound for each address counts it.
  let network: SocketAddress.Network
  let isTLS: Bool
  private let socket: Socket
  private let state = Guarded(State())

  init(_ socket: Socket, peer: SocketAddress?, isTLS: Bool) {
    self.socket = socket
    self.peer = peer?.description ?? "?"
    network = (peer ?? SocketAddress()).network
    self.isTLS = isTLS
  }

  /// Why the connection was cut off.
  var cutReason: UploadRefusal? { state.withLock(\.cutReason) }

  /// Whether the connection was cut off, and the status that was sent to the client.
  var cut: (isCut: Bool, status: Int?) {
    state.withLock { ($0.phase == .cut, $0.sentStatus) }
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
      if phase == .head || phase == .closed { state.lastResponse = nil }
    }
  }

  /// Enters the body phase: a head is complete.
  func beginBody(_ lastResponse: @escaping LastResponse) {
    enter(.body)
    state.withLock { $0.lastResponse = lastResponse }
  }

  /// Stops the client's clock while a head, bytes of a body or its end are handled; returns false if the connection
  /// was cut off.
  func beginHandling(_ count: Int) -> Bool {
    state.withLock { state in
      guard state.phase == .body else { return false }
      state.bytes += count
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
  func cutIfLate(_ limits: Receiver.Limits) {
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
        send(refusal, &state)
        cut(&state)
      default: break
      }
    }
  }

  /// How well the connection can be spared if there is no room for another client.
  func spareability(_ limits: Receiver.Limits) -> Spareability {
    state.withLock { Self.spareability($0, limits) }
  }

  private static func spareability(_ state: State, _ limits: Receiver.Limits) -> Spareability {
    let time = ContinuousClock.now - state.since
    switch state.phase {
    case .cut, .closed: return .leaving
    // A client that has just connected, or just read a response, may have a request on its way.
    case .head where time >= min(.seconds(1), limits.headTime / 4): return .idle(time)
    case .body
    where state.handlingSince == nil && time >= min(.seconds(5), limits.idleTime / 4):
      let missing = Double(limits.minimumRate) - Double(state.bytes) / (time / .seconds(1))
      return missing > 0 ? .slow(missingRate: missing) : .needed
    default: return .needed
    }
  }

  /// Cuts the connection off to make room for another client; returns false if it can't be spared any more.
  func cutIfSpareable(_ limits: Receiver.Limits) -> Bool {
    state.withLock { state in
      switch Self.spareability(state, limits) {
      case .leaving, .needed: return false
      case .idle: break
      case .slow:
        let refusal = UploadRefusal(
          .tooSlow, status: 408,
          "The body arrived too slowly while another client waited for a connection: send at least "
            + "\(limits.minimumRate) bytes a second.")
        send(refusal, &state)
      }
      cut(&state)
      return true
    }
  }

  private func send(_ refusal: UploadRefusal, _ state: inout State) {
    state.cutReason = refusal
    guard state.handlingSince == nil, let response = state.lastResponse?(refusal) else { return }
    if socket.sendAtOnce(response.bytes) { state.sentStatus = response.status }
  }

  /// Cuts the connection off because the receiver stops.
  ///
  /// - Parameter evenIfBusy: whether a request in progress is cut off too.
  func cut(evenIfBusy: Bool) {
    state.withLock { state in
      guard evenIfBusy || state.phase == .head else { return }
      if state.phase == .body {
        let refusal = UploadRefusal(
          .stopping, status: 503, "The receiver was stopped before the body was complete.")
        send(refusal, &state)
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
