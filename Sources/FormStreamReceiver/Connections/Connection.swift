import FormStreamPlatform

/// A client's connection and its timing. The connection's own thread sets the phase, and the monitor thread checks how long
/// the phase lasts.
final class Connection: Sendable {
  /// What the connection is doing.
  enum Phase {
    /// Waiting for a request's head, or receiving it.
    case head
    /// The head is complete; the body, if there is one, is being received.
    case body
    /// The response is being sent.
    case response
    /// The connection's last response is sent without libmicrohttpd, and the bytes that the client still sends are
    /// discarded.
    case draining
    /// The response is sent, and the request is being reported.
    case lingering
    /// The receiver is stopping, and has sent the client a response that says so, because no complete request had arrived. The
    /// bytes that the client still sends are discarded.
    case told
    /// The receiver has shut the connection down.
    case cut
    /// The socket is closed; its number may belong to another connection.
    case closed
  }

  /// How well a connection can be spared. The connection with the greatest value is cut off first.
  enum Spareability: Comparable {
    /// The connection is being closed, and makes room anyway.
    case leaving
    /// A request is in progress, or may be on its way.
    case needed
    /// The body in progress arrives too slowly, by `missingRate` bytes a second below the minimum rate.
    case slow(missingRate: Double)
    /// The client has been reading responses for this time. Its upload has already been accepted or refused.
    case unread(Duration)
    /// There has been no request on the connection for this time.
    case idle(Duration)
  }

  /// Makes the response to a client that is cut off in the middle of its body, and notes it for the record of the request;
  /// nil if the client can't get a response. This closure is called under the lock of the connection, and only while the
  /// connection's thread waits for the client.
  typealias LastResponse = (UploadRefusal) -> (status: Int, bytes: [UInt8])?

  private struct State {
    /// Makes the last response of the request in progress.
    var lastResponse: LastResponse?
    var phase = Phase.head
    /// When the phase began; for a body, when the current measuring period began.
    var since = ContinuousClock.now
    /// The bytes of the body received since `since`.
    var bytes = 0
    /// The client has had responses to read since `readingSince`, and had read `readBefore` bytes of the connection by then.
    /// Pipelined requests have many short responses, so the time for each response doesn't say how fast the client reads.
    var readingSince = ContinuousClock.now
    var readBefore: UInt64 = 0
    /// How many bytes the client had read when the response in progress began (`readBeforeResponse`), and how many bytes
    /// had been received from it when the last request ended (`receivedBefore`).
    var readBeforeResponse: UInt64 = 0
    var receivedBefore: UInt64 = 0
    /// When the handling of received bytes began; nil if none are being handled. The time of handling doesn't count against
    /// the client.
    var handlingSince: ContinuousClock.Instant?
    var cutReason: UploadRefusal?
    /// The status of the response that was sent to the client before it was cut off; nil if none was sent.
    var sentStatus: Int?
  }

  let peer: String
  /// The client's address or network, for which connections are counted.
  let network: SocketAddress.Network
  let isTLS: Bool
  /// Why all requests of the connection are refused; nil if they are served.
  let refusal: UploadRefusal?
  private let socket: Socket
  private let state = Guarded(State())

  /// How long a client that will be refused may take to send its request, or the rest of its request.
  private static let refusalTime = Duration.seconds(5)

  init(_ socket: Socket, peer: SocketAddress?, isTLS: Bool, refusal: UploadRefusal? = nil) {
    self.socket = socket
    self.refusal = refusal
    self.peer = peer?.description ?? "?"
    network = (peer ?? SocketAddress()).network
    self.isTLS = isTLS
  }

  /// Why the connection was cut off.
  var cutReason: UploadRefusal? { state.withLock(\.cutReason) }

  /// Whether the connection was cut off, and the status that was sent to the client.
  var cut: (isCut: Bool, status: Int?) {
    state.withLock { ($0.phase == .cut || $0.phase == .told, $0.sentStatus) }
  }

  /// Whether a request has begun and is not finished, or a client that will be refused has not sent its request yet.
  var isNeeded: Bool {
    state.withLock { state in
      switch state.phase {
      case .body, .response, .draining, .lingering: true
      case .head: refusal != nil
      case .told: hasPartOfRequest(state)
      case .cut, .closed: false
      }
    }
  }

  /// Whether the client has ended the connection, and no request is left on it. The connection's thread has not noticed
  /// the end yet, or is reporting the last request.
  var isAbandoned: Bool {
    state.withLock { state in
      switch state.phase {
      case .head: return socket.isEnded(isTLS: isTLS)
      case .body:
        return state.handlingSince == nil && socket.isEnded(isTLS: false)
      case .response:
        // A client that has ended its side of the connection may still read.
        guard socket.isEnded(isTLS: isTLS), let traffic = socket.traffic else { return false }
        return traffic.isRead && traffic.readBytes > state.readBeforeResponse
      case .draining, .lingering: return socket.isEnded(isTLS: isTLS)
      case .told, .cut, .closed: return true
      }
    }
  }

  /// Whether the client has sent something since the last request.
  private func hasPartOfRequest(_ state: State) -> Bool {
    socket.traffic.map { $0.receivedBytes != state.receivedBefore } ?? false
  }

  func enter(_ phase: Phase) {
    state.withLock { state in
      switch state.phase {
      case .closed: return
      case .told, .cut: guard phase == .closed else { return }
      case .head, .body, .response, .draining, .lingering: break
      }
      state.phase = phase
      state.since = .now
      state.bytes = 0
      state.handlingSince = nil
      if phase == .response { beginReading(&state) }
      if phase == .head { state.receivedBefore = socket.traffic?.receivedBytes ?? 0 }
      if phase == .head || phase == .closed { state.lastResponse = nil }
    }
  }

  /// Begins to measure how fast the client reads. If the client still has earlier responses to read, the measurement in
  /// progress goes on instead.
  private func beginReading(_ state: inout State) {
    let traffic = socket.traffic
    state.readBeforeResponse = traffic?.readBytes ?? 0
    guard traffic?.isRead ?? true else { return }
    state.readingSince = state.since
    state.readBefore = traffic?.readBytes ?? 0
  }

  /// Enters the body phase: a head is complete.
  func beginBody(_ lastResponse: @escaping LastResponse) {
    enter(.body)
    state.withLock { $0.lastResponse = lastResponse }
  }

  /// Begins handling a head, bytes of a body, or a body's end. The time of handling doesn't count against the client.
  /// Returns false if the connection was cut off.
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

  /// Sends a response without libmicrohttpd, and discards the bytes that the client still sends until it has read the
  /// response. Closing a socket with unread bytes sends a reset, which may reach the client before the response.
  ///
  /// - Parameter limit: how many bytes are discarded at most.
  func sendLastResponse(_ bytes: [UInt8], discarding limit: Int = .max) {
    enter(.draining)
    socket.sendAndDrain(bytes, within: .seconds(5), discarding: limit)
  }

  /// Sends a response and the end of the stream without waiting. A call of ``sendLastResponse(_:discarding:)`` without
  /// bytes must follow: it waits for the client. Returns false if the response can't be sent completely.
  func sendLastResponseAtOnce(_ bytes: [UInt8]) -> Bool {
    enter(.draining)
    defer { socket.endSending() }
    return socket.sendAtOnce(bytes)
  }

  /// Sends an interim response (RFC 9110 §15.2) without libmicrohttpd, unless the client has not taken all earlier bytes yet: then
  /// only a part of the response might fit, and the client must never be waited for. Returns whether the response was sent.
  @discardableResult func sendInterim(_ bytes: [UInt8]) -> Bool {
    state.withLock { state in
      guard state.phase == .body, !isTLS, socket.traffic?.isRead ?? false else { return false }
      if socket.sendAtOnce(bytes) { return true }
      // A part may have been sent, and nothing that follows it could be read.
      cut(&state)
      return false
    }
  }

  /// Cuts the connection off in the middle of a body, because its client has begun a newer request that replaces this one.
  func cut(because reason: UploadRefusal) {
    state.withLock { state in
      guard state.phase == .body else { return }
      state.cutReason = reason
      cut(&state)
    }
  }

  /// Cuts the connection off if a time limit is exceeded. In the middle of a body, the reason is sent to the client if
  /// possible.
  func cutIfLate(_ limits: Receiver.Limits) {
    state.withLock { state in
      let time = ContinuousClock.now - state.since
      let headTime = refusal == nil ? limits.headTime : min(limits.headTime, Self.refusalTime)
      let minimumBytes = Double(limits.minimumRate) * (limits.idleTime / .seconds(1))
      switch state.phase {
      case .head where time >= headTime, .response where time >= limits.responseTime:
        cut(&state)
      case .response where .now - state.readingSince >= limits.idleTime:
        // If the system doesn't say how much the client has read, only the time of each response is limited.
        guard let readBytes = socket.traffic?.readBytes else { return }
        guard Double(readBytes &- state.readBefore) >= minimumBytes else { return cut(&state) }
        state.readingSince = .now
        state.readBefore = readBytes
      case .body where state.handlingSince == nil && time >= limits.idleTime:
        if state.bytes > 0, Double(state.bytes) >= minimumBytes {
          state.since = .now
          state.bytes = 0
          return
        }
        let refusal = UploadRefusal(
          .tooSlow, status: 408,
          "The body arrived too slowly: \(counted(state.bytes, "byte", "bytes")) in the last \(limits.idleTime). Send at least "
            + "\(limits.minimumRate) bytes a second.")
        send(refusal, &state)
        cut(&state)
      default: break
      }
    }
  }

  /// Gives the client more time, after a while in which the receiver's process did not run and so read nothing.
  func postponeLimits(by time: Duration) {
    state.withLock { state in
      let now = ContinuousClock.now
      // While bytes are handled, `since` is corrected when the handling ends.
      if state.handlingSince == nil { state.since = min(now, state.since + time) }
      state.readingSince = min(now, state.readingSince + time)
    }
  }

  /// How well the connection can be spared if there is no room for another client.
  func spareability(_ limits: Receiver.Limits) -> Spareability {
    state.withLock { Self.spareability($0, limits) }
  }

  private static func spareability(_ state: State, _ limits: Receiver.Limits) -> Spareability {
    let time = ContinuousClock.now - state.since
    switch state.phase {
    case .told, .cut, .closed: return .leaving
    // A client that has just connected, or just read a response, may have a request on its way.
    case .head where time >= min(.seconds(1), limits.headTime / 4): return .idle(time)
    case .body
    where state.handlingSince == nil && time >= min(.seconds(5), limits.idleTime / 4):
      let missing = Double(limits.minimumRate) - Double(state.bytes) / (time / .seconds(1))
      return missing > 0 ? .slow(missingRate: missing) : .needed
    case .response:
      let time = .now - state.readingSince
      return time >= min(.seconds(1), limits.responseTime / 4) ? .unread(time) : .needed
    // The connection's last response has been sent.
    case .draining where time >= .seconds(1): return .idle(time)
    default: return .needed
    }
  }

  /// Cuts the connection off to make room for another client; returns false if the connection can't be spared any more.
  func cutIfSpareable(_ limits: Receiver.Limits) -> Bool {
    state.withLock { state in
      switch Self.spareability(state, limits) {
      case .leaving, .needed: return false
      case .unread, .idle: break
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

  /// Ends the connection because the receiver stops, unless a request has begun on it. The monitor calls this method again
  /// and again until the connection has ended.
  ///
  /// A request may be on its way, or a part of a request may have arrived, so the client gets a response. Under TLS, only
  /// libmicrohttpd can send a response, and only after a request has arrived. So a TLS connection is ended without a response
  /// if it has been idle for the time `grace`. A client that will be refused may take longer if it has begun to send a request.
  func endIfIdle(_ response: [UInt8], grace: Duration) {
    state.withLock { state in
      let time = ContinuousClock.now - state.since
      switch state.phase {
      case .head where isTLS:
        guard time >= grace, refusal == nil || !hasPartOfRequest(state) else { return }
        cut(&state)
      // If there are unread bytes, the connection's thread is about to read a request, and will refuse it.
      case .head where !socket.hasUnreadBytes:
        state.cutReason = .receiverStops
        if socket.sendAtOnce(response) { state.sentStatus = UploadRefusal.receiverStops.status }
        // Only sending is ended. If receiving were ended too, bytes that the client is sending would be answered with a
        // reset.
        socket.endSending()
        state.phase = .told
        state.since = .now
      case .told where hasPartOfRequest(state):
        if time >= Self.refusalTime { cut(&state) }
      // Once the client has confirmed the end of the stream, all bytes that it sent before it got the response have arrived.
      case .told where time >= grace || socket.traffic?.isEndRead ?? true: cut(&state)
      default: break
      }
    }
  }

  /// If the connection is in the phase `told`, discards the bytes that the client still sends.
  func drainIfTold() {
    if state.withLock({ $0.phase == .told }) { socket.sendAndDrain([], within: Self.refusalTime) }
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
