import FormStreamMultipart
import FormStreamNet
import FormStreamPlatform
import FormStreamWire

/// One attempt over a socket of our own.
///
/// Everything except its creation happens on the engine's thread. `ClientExchange` says what is written and what was read; this
/// class moves the bytes, and knows why they don't move.
final class SocketExchange: Exchange, @unchecked Sendable {
  /// How long the result of a cancelled exchange waits for a target that is still working. Usually, the target removes its
  /// unfinished file in this time.
  private static let gracePeriod = Duration.milliseconds(20)
  /// How long an exchange goes on without a movement after a response that came before the complete request.
  private static let earlyResponsePatience = Duration.seconds(1)
  /// How many pieces of a body are written, or read, before other connections have their turn.
  static let piecesPerTurn = 4

  let request: WireRequest
  let publisher: ProgressPublisher
  let tracer: Tracer?
  let collector: ResponseCollector
  var upload: SentBody
  var clock: ExchangeClock
  var turn: RateTurn
  /// The request's own rate, for its body or its response.
  var pace: RateTurn
  private(set) var engine: Engine?
  var connection: Connection?
  /// What the exchange waits for before it has a connection.
  var opening: ConnectionOpening?
  var metrics = StepTimes()

  private(set) var isPaused = false

  /// Whether the loop is about to go on with this exchange.
  private var isGoingOn = false

  // The sending:

  /// Whether the body waits for 100, or for the end of the time for it.
  var awaitsContinue = false
  lazy var continueTimer = engine.map { LoopTimer(on: $0.loop) { [weak self] in self?.endContinueWait() } }
  /// Whether no more of the body is sent.
  var hasStoppedSending = false
  var isSending = false

  // The receiving:

  var isReceiving = false
  /// Whether the response's target has no room, and will report when it has some.
  var isWaitingForTarget = false
  /// What has arrived and was not taken: a piece of the response's body, and what follows it; nil if all was taken.
  var held: (body: [UInt8], rest: [UInt8])?
  var hasResponseEnded = false
  /// How many bytes the other side's system had not acknowledged when the response arrived.
  var unacknowledged: Int64 = 0
  /// Whether they were counted for bytes that arrived and were not read yet.
  var isArrivalCounted = false

  // The end:

  /// The host whose address could not be resolved; nil if the exchange didn't fail for this reason.
  var unresolvedHost: String?
  /// Whether a later lookup of that address may succeed.
  var mayResolveLater = false

  /// Why this client ended the exchange early; nil if it didn't.
  private(set) var abortReason: TransferError?
  private var isCutOff = false
  private var gracePeriodEnd: ContinuousClock.Instant?
  /// Why there is no complete response, whether another attempt may succeed, and what was sent; nil before the end.
  private(set) var ending: (error: TransferError?, isTransient: Bool)?
  var sent = SentRequest()
  private var isWatched = false
  private var reported: TransferProgress.Counts?
  var completion: ((ExchangeResult) -> Void)?

  init(_ request: WireRequest, publisher: ProgressPublisher, tracer: Tracer?) {
    self.request = request
    self.publisher = publisher
    self.tracer = tracer
    upload = SentBody(total: request.bodyEnd, from: request.bodyStart, isLast: request.isLastPiece)
    turn = RateTurn(request.options.sharedRate)
    pace = RateTurn(request.options.maximumRate.map { rate in SharedRate { rate } })
    clock = ExchangeClock(waited: request.waited)
    collector = ResponseCollector(request, tracer)
    collector.limitsHeads = false
  }

  // MARK: The beginning

  func start(on engine: Engine) {
    self.engine = engine
    if request.computesDigest || request.announcedDigest != nil, request.announcesBody {
      do {
        try upload.computeDigest(after: request.attempt.digestOfStart, announced: request.announcedDigest)
      } catch {
        return end(because: .digestFailed(error))
      }
    }
    let id = ObjectIdentifier(self)
    if let body = request.body {
      upload.start(
        BodyUploadSource(body, from: request.bodyStart, during: request.bodyWait, on: engine.workers) {
          engine.sourceHasMore(id)
        })
    }
    collector.prepare(for: request, on: engine, id) { [weak self] in self?.upload.read ?? 0 }
    opening = ConnectionOpening(of: self, in: engine.pool)
    opening?.begin(isFresh: !request.attempt.usesIdleConnection)
  }

  /// Sends the request over a connection.
  func begin(over connection: Connection) {
    opening = nil
    guard ending == nil else { return connection.close() }
    if let error = clock.exceededAttempt(of: request.options.timeLimits, to: request.url) {
      connection.close()
      return end(because: error)
    }
    // An empty body whose source may have to wait was checked before the exchange.
    if let body = request.body, body.contentLength == 0, !body.mustBeWaitedFor, let error = upload.failureOfEmptySource() {
      connection.close()
      return end(because: error)
    }
    self.connection = connection
    connection.exchange = self
    connection.requestCount += 1
    sent.isReused = connection.requestCount > 1
    metrics.ready = clock.time
    tracer?.connection(to: request.url, connection)
    // The pool has looked at a kept connection.
    if !sent.isReused, connection.socket.hasInput() {
      return end(
        because: explanation.notSent("the server has closed the connection, or sent something before it had the request"))
    }
    do throws(RequestFlaw) {
      try connection.wire.begin(request.head, to: &connection.output)
    } catch {
      // What the connection knows is about the request before this one.
      connection.close()
      self.connection = nil
      return end(with: .init(cause: .other, ending: .closed, detail: "\(error)"))
    }
    sent.hasBegun = true
    if let tracer {
      tracer.requestHead(String(decoding: connection.output, as: UTF8.self), isURLSecret: request.url.isSecret)
    }
    clock.noteMovement()
    if upload.isEmpty { clock.restartWaitForResponse() }
    if request.awaitsContinue, let time = request.expectTimeout {
      awaitsContinue = true
      continueTimer?.set(after: max(time, .milliseconds(1)))
    }
    connection.reservePiece(request.announcesBody ? request.pieceSize : 0)
    send()
    if ending == nil { report() }
  }

  /// Goes on when other connections have had their turn.
  func goOnLater() {
    guard !isGoingOn, let engine else { return }
    isGoingOn = true
    engine.loop.post { [self] in
      isGoingOn = false
      goOn()
    }
  }

  /// Goes on as far as it can, after something that it waited for.
  func goOn() {
    guard ending == nil else { return }
    receive()
    send()
    if let connection { finishIfComplete(connection) }
    if ending == nil { report() }
  }

  // MARK: Called by the engine

  func setPaused(_ isPaused: Bool) {
    self.isPaused = isPaused
    clock.noteMovement()
    if !isPaused { goOn() }
  }

  func sourceHasMore() {
    guard upload.sourceHasMore() else { return }
    clock.noteMovement()
    goOn()
  }

  func targetMoved() {
    if collector.awaitsChoice { clock.noteMovement() }
    let isChosen = collector.useChoice()
    guard ending == nil else { return }
    if !isChosen || collector.noteStorageFailure() {
      if let error = collector.failure { end(because: error) }
      return
    }
    guard isWaitingForTarget, !collector.awaitsChoice else { return }
    isWaitingForTarget = false
    clock.noteMovement()
    goOn()
  }

  var turnBegin: ContinuousClock.Instant? {
    ending == nil ? [turn.begin, pace.begin].compactMap(\.self).max() : nil
  }

  func takeTurn() -> Bool {
    guard let begin = turnBegin else { return true }
    guard begin <= .now else { return false }
    clock.noteMovement()
    // The turns themselves are taken when the body or the response is read.
    _ = (turn.allowed(of: upload.rest), pace.allowed(of: request.announcesBody ? upload.rest : .max))
    if !isPaused { goOn() }
    return true
  }

  func endIfOverdue() {
    // What is acknowledged changes without an event here.
    if ending == nil, publisher.isWatched { report() }
    if ending == nil, hasQuietEarlyResponse {
      if !hasResponseEnded { collector.truncate() }
      return finish(nil)
    }
    let waitsForProgram =
      isPaused || upload.isWaitingForSource || isWaitingForTarget || collector.awaitsChoice || ending != nil
    if !waitsForProgram { request.activity?.note() }
    let activity: ExchangeClock.Activity =
      if waitsForProgram || turnBegin != nil || !sent.hasBegun {
        .waitingForOthers
      } else {
        collector.status == nil ? .beforeResponse : .receiving
      }
    let limits = request.options.timeLimits
    if let error = clock.exceededLimit(of: limits, during: activity, to: request.url) { cutOff(because: error) }
  }

  /// Whether nothing moves any more after a success that came before the complete request. Such a response can't confirm it.
  private var hasQuietEarlyResponse: Bool {
    guard sent.atResponse != nil, let status = collector.status, (200...299).contains(status),
      connection?.wire.isRequestComplete == false, !isPaused, !upload.isWaitingForSource,
      turnBegin == nil, !isWaitingForTarget, !collector.awaitsChoice
    else { return false }
    return clock.timeSinceMovement > Self.earlyResponsePatience
  }

  var timeLeft: Duration? { request.options.timeLimits.attempt.map(clock.timeLeft) }

  // MARK: The end

  func cutOff(because reason: TransferError) {
    abortReason = abortReason ?? reason
    isCutOff = true
    gracePeriodEnd = gracePeriodEnd ?? .now + Self.gracePeriod
    guard ending != nil else { return finish(nil) }
    // Only the response's target was still at work.
    ending = outcome(nil)
    collector.finish(isAborted: true)
    engine?.finished(self)
  }

  /// Ends the exchange for a reason of this client.
  func end(because reason: TransferError) {
    guard ending == nil else { return }
    abortReason = abortReason ?? reason
    finish(nil)
  }

  func end(with failure: WireFailure) {
    if ending == nil { finish(failure) }
  }

  func fail(_ error: WireError) {
    if ending != nil { return }
    if error == .unasked { return end(because: explanation.notSent("the server sent something before it had the request")) }
    if let head = connection?.wire.refusedHead { head.bytes.withUnsafeBytes(collector.show) }
    if let reason = TransferError(error, request.url) { return end(because: reason) }
    finish(WireFailure(error, after: sent.failure))
  }

  func finish(_ failure: WireFailure?) {
    guard ending == nil else { return }
    opening?.cancel()
    opening = nil
    continueTimer?.cancel()
    upload.close()
    turn.end()
    pace.end()
    report()
    if let reported, !isWatched { publisher.advance(reported, acknowledged: acknowledged) }
    noteSent()
    let isKept = failure == nil && abortReason == nil && collector.failure == nil && hasResponseEnded
    if failure == nil, abortReason == nil { collector.endBody() }
    ending = outcome(failure)
    if let connection {
      if isKept, connection.wire.closingReason == nil, unacknowledged == 0 {
        engine?.pool.keep(connection)
      } else {
        connection.close()
      }
    }
    connection = nil
    collector.finish(isAborted: isCutOff)
    engine?.finished(self)
  }

  private func noteSent() {
    guard let connection else { return }
    upload.note(sent: connection.wire.bodySent)
    sent.stage = AttemptStage(connection.wire.stage)
    metrics.ends = connection.ends
    (sent.hasLeft, sent.isAnswered) = (connection.wire.headSent > 0, connection.wire.hasResponseBegun)
  }

  var isInGracePeriod: Bool { ending != nil && isCutOff }

  func reportIfDelivered() -> Bool {
    guard let ending else { return false }
    guard collector.isStored || gracePeriodEnd.map({ .now >= $0 }) == true else { return false }
    collector.noteStorageFailure()
    completion?(result(ending.error ?? collector.failure, isTransient: ending.isTransient))
    (completion, engine) = (nil, nil)
    return true
  }

  // MARK: Progress

  /// Reports the counts if they have changed.
  func report() {
    clock.note(handedOver: upload.handedOver, received: collector.received)
    let counts = TransferProgress.Counts(
      phase: phase, read: upload.read, handedOver: upload.handedOver, received: collector.received,
      responseTotal: collector.announcedLength)
    isWatched = publisher.isWatched
    guard isWatched || counts != reported else { return }
    reported = counts
    publisher.advance(counts, acknowledged: isWatched ? acknowledged : nil)
  }

  /// The phase of the progress; nil if it hasn't changed.
  private var phase: TransferProgress.Phase? {
    guard sent.hasBegun else { return nil }
    if connection?.wire.isRequestComplete ?? (sent.stage == .sent) { return .waiting }
    return upload.read > upload.start ? .sending : nil
  }

  private var acknowledged: Int64? {
    // The bytes that the server keeps of an upload are those that it has confirmed itself.
    guard !request.isPieceOfUpload, collector.upload.resource == nil, let queued = connection?.socket.unacknowledgedBytes
    else { return nil }
    return max(upload.handedOver - queued, 0)
  }
}
