import FormStreamMultipart

/// A client's connection, as far as time is concerned: the connection's own thread tells what it is at, and the
/// watch looks at that from outside.
final class Connection: Sendable {
  /// What is going on.
  enum Phase {
    /// A request's head is waited for, or comes.
    case head
    /// A request's head came, and its body comes, where it has one.
    case body
    /// The answer goes out.
    case answer
    /// The answer is out, and told of. Where it was the last one, what the client still sends is thrown away,
    /// for a while.
    case lingering
    /// It was cut off.
    case cut
    /// Its socket is, or may be, another's.
    case closed
  }

  /// What is known of the request that is under way.
  struct Request {
    var framing = UploadRequest.Framing.none
    var contentLength: Int64?
    var bodyBytes: Int64 = 0
  }

  /// What a client is sent that is cut off.
  typealias LastWords = @Sendable (UploadRefusal, Request) -> [UInt8]

  private struct State {
    var request = Request()
    var phase = Phase.head
    /// Since when.
    var since = ContinuousClock.now
    /// The bytes of the body that came since `since`, which begins anew now and then.
    var bytes = 0
    /// Since when the bytes that came are being handled: that is not the client's time.
    var handling: ContinuousClock.Instant?
    var reason: UploadRefusal?
    /// Whether the client was told of it.
    var isTold = false
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

  /// Why it was cut off.
  var reasonOfCut: UploadRefusal? { state.withLock(\.reason) }

  /// Whether nothing more can be answered; and what was, when it was cut off.
  var cut: (isCut: Bool, status: Int?) {
    state.withLock { ($0.phase == .cut, $0.isTold ? $0.reason?.status : nil) }
  }

  /// Whether a request was begun and is not over.
  var isBusy: Bool {
    state.withLock { state in
      switch state.phase {
      case .body, .answer, .lingering: true
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
      state.handling = nil
    }
  }

  /// A head came, and its body may follow.
  func beginBody(_ framing: UploadRequest.Framing, length: Int64?) {
    enter(.body)
    state.withLock { $0.request = Request(framing: framing, contentLength: length) }
  }

  /// A head, bytes of a body, or its end came; false where nobody waits for them any more.
  func beginHandling(_ count: Int) -> Bool {
    state.withLock { state in
      guard state.phase == .body else { return false }
      state.bytes += count
      state.request.bodyBytes += Int64(count)
      state.handling = .now
      return true
    }
  }

  func endHandling() {
    state.withLock { state in
      guard let begun = state.handling else { return }
      state.since += .now - begun
      state.handling = nil
    }
  }

  /// Answers past libmicrohttpd, and throws away what the client still sends until it has read that: to close
  /// on unread bytes would be a reset, which may overtake the answer.
  func answer(_ bytes: [UInt8]) {
    enter(.lingering)
    socket.sendAndDrain(bytes, within: .seconds(5))
  }

  /// Cuts the connection off where it takes more time than it has. An unhurried client is told why, where that
  /// can be.
  func cutIfLate(_ limits: Receiver.Limits, saying words: LastWords) {
    state.withLock { state in
      let time = ContinuousClock.now - state.since
      switch state.phase {
      case .head where time >= limits.headTime, .answer where time >= limits.responseTime:
        cut(&state)
      case .body where state.handling == nil && time >= limits.idleTime:
        let fewest = Double(limits.minimumRate) * (limits.idleTime / .seconds(1))
        if state.bytes > 0, Double(state.bytes) >= fewest {
          state.since = .now
          state.bytes = 0
          return
        }
        let refusal = UploadRefusal(
          .tooSlow, status: 408,
          "The body came too slowly: \(state.bytes) bytes in the last \(limits.idleTime). Send at least "
            + "\(limits.minimumRate) a second.")
        tell(refusal, words, &state)
        cut(&state)
      default: break
      }
    }
  }

  /// Under TLS only libmicrohttpd could tell it.
  private func tell(
    _ refusal: UploadRefusal, _ words: LastWords, _ state: inout State
  ) {
    state.reason = refusal
    guard !isTLS, state.handling == nil else { return }
    state.isTold = socket.sendAtOnce(words(refusal, state.request))
  }

  /// Cuts it off where it has no request to finish; or in any case.
  func cut(evenIfBusy: Bool, saying words: LastWords) {
    state.withLock { state in
      guard evenIfBusy || state.phase == .head else { return }
      if state.phase == .body {
        let refusal = UploadRefusal(
          .stopping, status: 503, "The receiver was stopped before all of the body had come.")
        tell(refusal, words, &state)
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
