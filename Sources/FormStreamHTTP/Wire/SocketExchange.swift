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
  /// How many pieces of a body are written before other connections have their turn.
  private static let piecesPerTurn = 4

  let request: WireRequest
  let publisher: ProgressPublisher
  let tracer: Tracer?
  let collector: ResponseCollector
  var upload: SentBody
  var clock: ExchangeClock
  private var turn: RateTurn
  /// The request's own rate, for its body or its response.
  private var pace: RateTurn
  private(set) var engine: Engine?
  var connection: Connection?
  /// What the exchange waits for before it has a connection.
  var opening: ConnectionOpening?
  var metrics = StepTimes()

  private(set) var isPaused = false
  private var hasBegunBody = false
  /// Whether the body waits for 100, or for the end of the time for it.
  private var awaitsContinue = false
  private lazy var continueTimer = engine.map { LoopTimer(on: $0.loop) { [weak self] in self?.endContinueWait() } }
  /// Whether no more of the body is sent.
  private var hasStoppedSending = false
  private var isSending = false
  /// Whether the response's target has no room, and will report when it has some.
  private var isWaitingForTarget = false
  /// What has arrived and was not taken: a piece of the response's body, and what follows it; nil if all was taken.
  private var held: (body: [UInt8], rest: [UInt8])?
  private var hasResponseEnded = false
  /// How many bytes the other side's system had not acknowledged when the response began.
  private var unacknowledged: Int64 = 0
  private(set) var hasResponseBegun = false
  /// The host whose address could not be resolved; nil if the exchange didn't fail for this reason.
  var unresolvedHost: String?

  /// Why this client ended the exchange early; nil if it didn't.
  private(set) var abortReason: TransferError?
  private var isCutOff = false
  private var gracePeriodEnd: ContinuousClock.Instant?
  /// Why there is no complete response, whether another attempt may succeed, and what was sent; nil before the end.
  private(set) var ending: (error: TransferError?, isTransient: Bool)?
  private(set) var sent = SentRequest()
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

  /// Goes on as far as it can, after something that it waited for.
  func goOn() {
    guard ending == nil else { return }
    receive()
    send()
    if let connection { finishIfComplete(connection) }
    if ending == nil { report() }
  }

  // MARK: Sending

  private func endContinueWait() {
    guard awaitsContinue, ending == nil else { return }
    if request.requiresContinue {
      return end(because: .notAskedForBody(request.url, length: request.bodyLength))
    }
    awaitsContinue = false
    send()
    if ending == nil { report() }
  }

  /// Writes as much of the request as the system takes, and as its source has.
  private func send() {
    guard !isSending, let connection, ending == nil else { return }
    isSending = true
    defer { isSending = false }
    var pieces = 0
    while !hasStoppedSending, ending == nil {
      // The head leaves together with the first piece.
      if mayReadBody, connection.unsentPiece.isEmpty, !connection.wire.isBodyWritten {
        guard pieces < Self.piecesPerTurn else {
          engine?.loop.post { [self] in goOn() }
          return
        }
        if pieces > 0 { report() }
        pieces += 1
        readPiece(connection)
        if ending != nil { return }
      }
      guard connection.hasPending else { break }
      // A response that came before the last byte of the body is not about all of it. So what follows the first write is written only
      // if nothing is there to be read.
      if connection.wire.headSent > 0, request.announcesBody, connection.socket.hasInput() {
        // If the response waits, so does the request.
        if !isPaused, !isWaitingForTarget { engine?.loop.post { [self] in goOn() } }
        return
      }
      guard write(connection) else { break }
    }
  }

  private var mayReadBody: Bool {
    request.announcesBody && !awaitsContinue && !isPaused && !upload.isWaitingForSource && turnBegin == nil
  }

  private func readPiece(_ connection: Connection) {
    hasBegunBody = true
    var allowed = turn.allowed(of: upload.rest)
    if allowed > 0 { allowed = min(allowed, pace.allowed(of: upload.rest)) }
    guard allowed > 0 else {
      engine?.awaitTurn(self)
      return
    }
    // The end of a chunk stands after its bytes.
    let room = UnsafeMutableRawBufferPointer(
      rebasing: connection.piece[..<min(connection.piece.count - Connection.chunkEnd, Int(clamping: allowed))])
    do throws(RequestFlaw) {
      switch upload.read(into: room) {
      case .bytes(let count):
        turn.use(count)
        pace.use(count)
        try connection.announce(count)
        if upload.total != nil, upload.rest == 0 { try connection.endBody() }
      case .later: break
      case .end:
        try connection.endBody()
      case .failed(let error):
        end(because: error)
      }
    } catch {
      end(with: .init(cause: .other, ending: .closed, detail: "\(error)"))
    }
  }

  /// Returns whether everything was written.
  private func write(_ connection: Connection) -> Bool {
    do throws(SystemError) {
      let count = try connection.write()
      if count > 0 {
        upload.note(sent: connection.wire.bodySent)
        if connection.wire.isRequestComplete { clock.noteBodyEnd() }
      }
      return !connection.hasPending
    } catch {
      // What the server sent before it closed the connection can still be read.
      hasStoppedSending = true
      sent.failure = error
      receive()
      return false
    }
  }

  // MARK: Receiving

  /// Reads what has arrived, as far as the response's target takes it.
  private func receive() {
    guard let connection, let engine, ending == nil, !isPaused, takeHeld() else { return }
    var pieces = 0
    while ending == nil, !isPaused, !isWaitingForTarget, connection.socket.mayRead || sent.failure != nil {
      guard pieces < Self.piecesPerTurn else {
        engine.loop.post { [self] in goOn() }
        return
      }
      pieces += 1
      var buffer = engine.pool.buffer
      if !request.announcesBody {
        let allowed = pace.allowed(of: .max)
        guard allowed > 0 else { return engine.awaitTurn(self) }
        buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, Int(clamping: allowed))])
      }
      do throws(SystemError) {
        switch try connection.socket.read(into: buffer) {
        case .bytes(let count):
          if !request.announcesBody { pace.use(count) }
          noteBegin(of: connection)
          take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), from: connection)
        case .end: endInput(connection, isOrderly: true)
        case .nothing: return
        }
      } catch {
        sent.failure = sent.failure ?? error
        endInput(connection, isOrderly: false)
      }
    }
    if ending == nil { collector.flush() }
  }

  /// Notes how many bytes the server's system didn't have when it sent the response that is about to be read. A segment
  /// acknowledges all bytes that arrived before it (RFC 9293 §3.4), and this system handles the acknowledgment before the
  /// segment's data.
  private func noteBegin(of connection: Connection) {
    guard !hasResponseBegun else { return }
    hasResponseBegun = true
    if request.announcesBody { unacknowledged = connection.socket.unacknowledgedBytes ?? 0 }
  }

  private func take(_ bytes: UnsafeRawBufferPointer, from connection: Connection) {
    clock.noteMovement()
    var input = bytes
    do throws(WireError) {
      while ending == nil, let event = try connection.wire.receive(&input) {
        guard handle(event, connection) else {
          held?.rest = Array(input)
          return
        }
      }
    } catch {
      fail(error)
    }
  }

  /// Takes what was held back, once its target has room. Returns whether nothing is held back any more.
  private func takeHeld() -> Bool {
    guard let (body, rest) = held else { return true }
    guard !isWaitingForTarget, let connection else { return false }
    held = nil
    guard body.withUnsafeBytes({ deliver($0) }), ending == nil else {
      held?.rest = rest
      return false
    }
    // Even if nothing is left, the end of the response may have to be noted.
    rest.withUnsafeBytes { take($0, from: connection) }
    return ending == nil && held == nil
  }

  private func endInput(_ connection: Connection, isOrderly: Bool) {
    do throws(WireError) {
      while ending == nil, let event = try connection.wire.endInput(isOrderly: isOrderly) {
        guard handle(event, connection) else { return }
      }
    } catch {
      return fail(error)
    }
    // The response has ended, and the server takes no more of the request.
    if ending == nil { finish(nil) }
  }

  /// Returns false if a piece of the body was held back.
  private func handle(_ event: ClientExchange.Event, _ connection: Connection) -> Bool {
    switch event {
    case .interim(let head):
      guard receive(head) else { break }
      hasResponseBegun = false
      if collector.isProgressReported { connection.wire.noteProgressOfServer() }
      if collector.hasContinued, awaitsContinue {
        awaitsContinue = false
        continueTimer?.cancel()
        send()
      }
    case .response(let head):
      guard receive(head) else { break }
      continueTimer?.cancel()
      awaitsContinue = false
      noteResponse(connection)
    case .body(let bytes): return deliver(bytes)
    case .trailers(let trailers):
      trailers.bytes.withUnsafeBytes { bytes in
        for line in bytes.dropLast(2).split(separator: UInt8(ascii: "\n")) where line.count > 1 {
          collector.receive(trailer: line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        }
      }
    case .end:
      hasResponseEnded = true
      finishIfComplete(connection)
    }
    return true
  }

  private func receive(_ head: ResponseHead) -> Bool {
    clock.noteHeadLine()
    let isTaken = head.bytes.withUnsafeBytes { $0.eachLine { collector.receive(headLine: $0) } }
    if !isTaken, let error = collector.failure { end(because: error) }
    return isTaken
  }

  private func noteResponse(_ connection: Connection) {
    let handedOver = upload.start + (connection.wire.bodySentAtResponse ?? 0)
    sent.atResponse = (
      connection.wire.isResponseToCompleteRequest && unacknowledged == 0, max(handedOver - unacknowledged, upload.start)
    )
    // A refusal needs no more of the body. A success may be about what the server has, and reads on.
    if !connection.wire.isRequestComplete, let status = collector.status, !(200...299).contains(status) {
      hasStoppedSending = true
    }
  }

  /// Returns false if the bytes were not taken, and are held back.
  private func deliver(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch collector.receive(body: bytes) {
    case .taken:
      if collector.hasAllOfOpenBody { finish(nil) }
      return true
    case .later:
      isWaitingForTarget = true
      held = (Array(bytes), [])
      return false
    case .abort:
      if let error = collector.failure { end(because: error) } else { finish(nil) }
      return true
    }
  }

  private func finishIfComplete(_ connection: Connection) {
    guard hasResponseEnded, ending == nil else { return }
    if connection.wire.isRequestComplete || hasStoppedSending || connection.socket.hasHungUp { return finish(nil) }
    // A success that came before the complete request confirms nothing yet.
    if let status = collector.status, !(200...299).contains(status) { finish(nil) }
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
    guard sent.atResponse != nil, connection?.wire.isRequestComplete == false, !isPaused, !upload.isWaitingForSource,
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

  private func fail(_ error: WireError) {
    if ending != nil { return }
    if let reason = TransferError(error, request.url) { return end(because: reason) }
    finish(WireFailure(error, after: sent.failure))
  }

  private func finish(_ failure: WireFailure?) {
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
    (sent.hasBegunBody, sent.hasLeft) = (hasBegunBody, connection.wire.headSent > 0)
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
  private func report() {
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
