import FormStreamMultipart
import FormStreamDigest
import FormStreamPlatform

/// One attempt that libcurl carries out.
///
/// Everything except its creation happens on the engine's thread. This is one file because its state is private: the engine and
/// libcurl change the state in turn, and the result depends on all of it.
final class CurlExchange: Exchange, @unchecked Sendable {
  /// How long the result of a cancelled exchange waits for a target that is still working. Usually, the target removes its
  /// unfinished file in this time.
  private static let gracePeriod = Duration.milliseconds(20)

  let easy: CurlEasy
  private let request: WireRequest
  private let publisher: ProgressPublisher
  private let tracer: Tracer?
  private let collector: ResponseCollector
  private var upload: SentBody
  /// What the request may send of a rate that it shares with others.
  private var turn: RateTurn
  /// Has the engine call `takeTurn()` until it returns true.
  private var awaitTurn: () -> Void = {}
  private var clock: ExchangeClock
  private var connection = ExchangeConnection()
  private weak var engine: Engine?
  /// Whether the caller has paused the request.
  private var isPaused = false
  private var hasBegunBody = false
  /// Whether the response's target has no room, and will report when it has some.
  private var isWaitingForTarget = false
  /// Why this client ended the exchange early; nil if it didn't.
  private var abortReason: TransferError?
  /// Whether the result waits for the response's target only during the grace period.
  private var isCutOff = false
  /// The end of the grace period; nil if the exchange was not cut off.
  private var gracePeriodEnd: ContinuousClock.Instant?
  /// Why there is no complete response, and whether another attempt may succeed; nil before libcurl is done.
  private var ending: (error: TransferError?, isTransient: Bool)?
  /// The counts when `count(uploaded:)` was last called.
  private var moved: Moved?
  /// Whether somebody watched the progress at the last check.
  private var isWatched = false
  /// The counts that were reported last.
  private var reported: TransferProgress.Counts?
  /// How much of the request was handed over when a final response began; nil before.
  private var atResponse: (isComplete: Bool, handedOver: Int64)?
  /// The bytes that were still unread in the socket when it was closed.
  private var unread: [UInt8] = []
  /// How many bytes the other side's system had not acknowledged when the socket was closed.
  private var unacknowledgedAtClose: Int64 = 0
  /// Whether the response was read from the socket of a broken connection.
  private var isSalvaged = false
  /// Whether libcurl closed an HTTP/2 connection that the server had not ended: the server's data was then not valid.
  private var isClosedByUs = false
  /// Whether the server refused the TLS handshake because there is no common protocol (ALPN).
  private var hasNoCommonProtocol = false
  /// The host whose address could not be resolved; nil if the exchange didn't fail for this reason.
  private var unresolvedHost: String?
  /// Called once at the end; set by the engine.
  var completion: ((ExchangeResult) -> Void)?

  /// How long an exchange goes on without a movement after a response that came before the complete request.
  private static let earlyResponsePatience = Duration.seconds(1)

  init(_ request: WireRequest, publisher: ProgressPublisher, tracer: Tracer?) throws(TransferError) {
    easy = try CurlEasy()
    self.request = request
    self.publisher = publisher
    self.tracer = tracer
    upload = SentBody(
      total: request.bodyEnd, from: request.bodyStart, isLast: request.isLastPiece)
    turn = RateTurn(request.options.sharedRate)
    clock = ExchangeClock(waited: request.waited)
    collector = ResponseCollector(request, tracer)
  }

  /// Whether the exchange uses a connection beyond the maximum.
  var needsExtraConnection: Bool { request.needsExtraConnection }

  /// Whether the request is sent over HTTP/2. The version in a response is not reliable: some servers write HTTP/2 into the
  /// status lines of HTTP/1.1.
  private var isHTTP2: Bool { connection.sentHTTP2 }

  // MARK: Called by the engine

  func start(on engine: Engine) {
    self.engine = engine
    engine.curl.start(self, on: engine)
  }

  /// The socket that the exchange waits for before libcurl starts it again; nil if the exchange ended for another reason.
  var awaitedSocket: CInt? { abortReason == nil ? connection.awaitedSocket : nil }

  /// How often the exchange had to wait for a socket.
  var waits: Int { connection.waits }

  /// Notes that libcurl starts the exchange again.
  func noteRestart() {
    connection.awaitedSocket = nil
  }

  /// Prepares the exchange; returns false if the exchange can't be started.
  func prepare(on engine: Engine) -> Bool {
    easy.setOptions(for: request)
    easy.setDelegate(
      self, sendsBody: request.announcesBody,
      traces: tracer != nil || request.mayBeHTTP2 || request.isEncrypted)
    let announced = request.announcedDigest
    if request.computesDigest || announced != nil, request.announcesBody {
      do {
        try upload.computeDigest(after: request.attempt.digestOfStart, announced: announced)
      } catch {
        abort(with: .digestFailed(error))
      }
    }
    awaitTurn = { [weak self, weak engine] in
      if let self { engine?.awaitTurn(self) }
    }
    let id = ObjectIdentifier(self)
    if let body = request.body {
      upload.start(
        BodyUploadSource(
          body, from: request.bodyStart, during: request.bodyWait, on: engine.workers
        ) {
          engine.sourceHasMore(id)
        })
    }
    collector.prepare(for: request, on: engine, id) { [weak self] in self?.upload.read ?? 0 }
    return easy.startFailure == nil && abortReason == nil
  }

  func cutOff(because reason: TransferError) {
    noteCutOff(because: reason)
    engine?.curl.end(self)
  }

  private func noteCutOff(because reason: TransferError) {
    abort(with: reason)
    isCutOff = true
    gracePeriodEnd = gracePeriodEnd ?? .now + Self.gracePeriod
  }

  /// Ends the exchange early. The reason becomes its failure.
  private func abort(with reason: TransferError) {
    if abortReason == nil { abortReason = reason }
  }

  func setPaused(_ isPaused: Bool) {
    self.isPaused = isPaused
    engine?.curl.pauseChanged(self)
  }

  /// Passes `isPaused` on to libcurl after it was changed.
  func passPauseOn() {
    clock.noteMovement()
    easy.setPaused(isPaused)
    if isPaused { return }
    if turn.begin != nil { awaitTurn() } else if !upload.isWaitingForSource { easy.resumeReading() }
  }

  var turnBegin: ContinuousClock.Instant? { ending == nil ? turn.begin : nil }

  func takeTurn() -> Bool {
    guard let begin = turnBegin else { return true }
    guard begin <= .now else { return false }
    clock.noteMovement()
    engine?.curl.noteMovement()
    // After a pause of the caller, the exchange waits for its turn again.
    if !isPaused { easy.resumeReading() }
    return true
  }

  func sourceHasMore() {
    guard upload.sourceHasMore() else { return }
    clock.noteMovement()
    engine?.curl.noteMovement()
    if !isPaused { easy.resumeReading() }
  }

  func targetMoved() {
    if !useTarget() { engine?.curl.end(self) }
  }

  /// Handles a report of the response's target. Returns false if the target has failed, and the exchange must end.
  private func useTarget() -> Bool {
    engine?.curl.noteMovement()
    if collector.awaitsChoice { clock.noteMovement() }
    let isChosen = collector.useChoice()
    if ending == nil, !isChosen || collector.noteStorageFailure() {
      fail(collector.failure)
      return false
    }
    guard isWaitingForTarget, ending == nil, !collector.awaitsChoice else { return true }
    isWaitingForTarget = false
    clock.noteMovement()
    easy.resumeReceiving()
    collector.flush()
    return true
  }

  func endIfOverdue() {
    if isOverdue() { engine?.curl.end(self) }
  }

  /// Returns whether the exchange has to end, because a time limit is exceeded, or because nothing useful can follow its
  /// response.
  private func isOverdue() -> Bool {
    isWatched = publisher.isWatched
    if hasResponseBeforeSource { return true }
    if collector.hasAllOfOpenBody { return true }
    if hasQuietEarlyResponse {
      if !collector.isComplete { collector.truncate() }
      return true
    }
    let waitsForProgram =
      isPaused || upload.isWaitingForSource || isWaitingForTarget || collector.awaitsChoice
      || ending != nil
    if !waitsForProgram { request.activity?.note() }
    let activity: ExchangeClock.Activity =
      if waitsForProgram || turn.begin != nil || connection.requestCount == 0 {
        .waitingForOthers
      } else {
        collector.status == nil ? .beforeResponse : .receiving
      }
    var limits = request.options.timeLimits
    // After each piece, libcurl waits to keep to the rate.
    limits.stall = limits.stall.map { $0 + request.pauseBetweenPieces }
    guard let error = clock.exceededLimit(of: limits, during: activity, to: request.url)
    else { return false }
    noteCutOff(because: error)
    return true
  }

  var timeLeft: Duration? { request.options.timeLimits.attempt.map(clock.timeLeft) }

  /// Whether the response is complete, but the source of the request's body still waits for bytes that may never come. libcurl
  /// also waits for the source, although it sends no more bytes of a refused body.
  private var hasResponseBeforeSource: Bool {
    guard let atResponse, !atResponse.isComplete, upload.isWaitingForSource, collector.isComplete,
      ending == nil, let status = collector.status
    else { return false }
    return !(200...299).contains(status) || connection.socket.map(hasEnded) == true
  }

  /// Whether nothing moves any more after a response that came before the complete request. Such a response can't confirm a
  /// success, and with HTTP/2 libcurl doesn't notice the response's end while the request's body is not complete.
  private var hasQuietEarlyResponse: Bool {
    guard let atResponse, !atResponse.isComplete, !isPaused, !upload.isWaitingForSource,
      turn.begin == nil, !isWaitingForTarget, !collector.awaitsChoice, ending == nil,
      let status = collector.status,
      isHTTP2 || !upload.isHandedOver && (200...299).contains(status)
    else { return false }
    return clock.timeSinceMovement > Self.earlyResponsePatience + request.pauseBetweenPieces
  }

  /// Called before libcurl reads. If the server responds in HTTP/1.x to HTTP/2, ends the exchange with an error that says so.
  /// libcurl would only report that the response is empty.
  func lookAtFirstBytes() {
    guard let socket = connection.socket, abortReason == nil else { return }
    let start = unreadStart(of: socket, count: 7)
    if start.starts(with: "HTTP/1.".utf8) {
      abort(with: explanation.noHTTP2("it responds in HTTP/1"))
    }
  }

  /// Whether `lookAtFirstBytes` is to be called.
  var awaitsFirstBytes: Bool { request.hasPriorKnowledge && collector.lastStatus == nil }

  /// Whether libcurl read bytes that are not HTTP/2 before `lookAtFirstBytes` could see them: libcurl then reports an empty
  /// response. False if the server had the complete request, because the server may have acted on the request.
  private func isNotHTTP2(_ failure: WireFailure?) -> Bool {
    failure?.cause == .noResponse && awaitsFirstBytes && stage != .sent
  }

  /// Called before a socket is closed. If the socket is this exchange's, and no response was read, the socket's unread bytes
  /// may contain the response.
  func willClose(_ socket: CInt) {
    guard socket == connection.socket else { return }
    noteGoAway()
    connection.noteWritten()
    // Writing may have failed before libcurl read anything.
    if awaitsFirstBytes { lookAtFirstBytes() }
    isClosedByUs =
      isHTTP2 && !hasEnded(socket) && !connection.hasCloseNotify(request)
      && (!request.isEncrypted || CurlLibrary.showsCloseNotify)
    connection.socket = nil
    guard !request.isEncrypted, abortReason == nil, !collector.hasResponse, !isHTTP2 else {
      return
    }
    unread = pendingBytes(of: socket, limit: 64 * 1024)
    unacknowledgedAtClose = unacknowledged(in: socket)
  }

  /// Notes a GOAWAY that libcurl has reported to another exchange on the same connection.
  private func noteGoAway() {
    guard let last = connection.socket.flatMap({ easy.sockets?.lastStream(of: $0) }) else { return }
    connection.notes.noteGoAway(lastStream: last)
  }

  /// Called after libcurl is done with the exchange, and again if the exchange is cut off after that.
  func finish(_ curlFailure: CurlFailure?) {
    let failure = curlFailure.map { WireFailure($0, isInHead: collector.isInHead) }
    if ending == nil {
      upload.close()
      turn.end()
      noteGoAway()
      count(uploaded: easy.uploaded)
      // The progress can be asked for after the end.
      if let reported, !isWatched {
        publisher.advance(reported, acknowledged: acknowledged)
      }
      connection.noteWritten()
      if failure != nil || abortReason != nil, let written = connection.writtenOfBody {
        upload.noteUncounted(written: written)
      }
      noteConnectionFree()
      connection.socket = nil
      hasNoCommonProtocol = if case .noCommonProtocol = failure?.cause { true } else { false }
      unresolvedHost = failure.flatMap(unresolvedHost)
      // If libcurl rejected bytes of a response, the unread rest is not the beginning of a response. For a request that only
      // reads, an incomplete response is of no use, and the request can be sent again.
      if let failure, !failure.hasRejectedBytes, abortReason == nil,
        request.announcesBody || !request.method.isSafe
      {
        isSalvaged = SalvagedResponse.feed(unread, to: collector)
        if isSalvaged { noteUnacknowledged(unacknowledgedAtClose) }
      }
      if isNotHTTP2(failure) { abort(with: explanation.noHTTP2("what it sends is not HTTP/2")) }
    }
    if failure == nil, abortReason == nil { collector.endBody() }
    ending = outcome(failure)
    collector.finish(isAborted: isCutOff)
  }

  var isInGracePeriod: Bool { ending != nil && isCutOff }

  func reportIfDelivered() -> Bool {
    guard let ending else { return false }
    guard collector.isStored || gracePeriodEnd.map({ .now >= $0 }) == true else { return false }
    collector.noteStorageFailure()
    completion?(result(ending.error ?? collector.failure, isTransient: ending.isTransient))
    completion = nil
    return true
  }
}

// MARK: Called by libcurl

extension CurlExchange: CurlDelegate {
  func willSendRequest(over socket: CInt?) -> Bool {
    if connection.requestCount > 0, !maySendAgain { return false }
    if let error = clock.exceededAttempt(of: request.options.timeLimits, to: request.url) {
      abort(with: error)
      return false
    }
    connection.isReused = easy.isConnectionReused
    if let reason = reasonNotToSend(over: socket) {
      if !connection.isSpent { abort(with: reason) }
      return false
    }
    if let socket, easy.sockets?.awaitsSettings(socket) == true {
      connection.awaitedSocket = socket
      connection.waits += 1
      return false
    }
    connection.begin(request, over: socket)
    // If a new connection breaks at once, this makes libcurl close the connection at once, and read the alert with the reason.
    if request.isEncrypted, !connection.isReused { easy.closesConnection = true }
    noteVerification(socket)
    if let socket {
      easy.sockets?.noteInUse(socket, by: ObjectIdentifier(easy))
      // An HTTP/2 server may respond while a body is being sent, and ignore the body (RFC 9113 §8.1). libcurl doesn't show
      // this. So the head is sent together with the body: a server can't respond to a head that it doesn't have yet.
      if request.mayBeHTTP2, request.announcesBody { easy.sockets?.holdBack(socket) }
    }
    clock.noteMovement()
    if upload.isEmpty { clock.restartWaitForResponse() }
    // An empty body whose source may have to wait was checked before the exchange.
    guard let body = request.body, body.contentLength == 0, !body.mustBeWaitedFor,
      let error = upload.failureOfEmptySource()
    else { return true }
    abort(with: error)
    return false
  }

  /// Notes whether the platform's check trusts the server. A kept connection was verified by another exchange.
  private func noteVerification(_ socket: CInt?) {
    guard request.isEncrypted else { return }
    if easy.certificateCheck?.isOverridden == true, let socket {
      easy.sockets?.noteUnverified(socket)
    }
    connection.isVerified =
      request.configuration.tls.verifiesServer && easy.certificateCheck?.isOverridden != true
      && socket.map { easy.sockets?.isUnverified($0) } != true
  }

  /// If a reused connection ends without a response, libcurl sends the request again by itself. The repetition is refused
  /// unless the method is safe and there is no body, because the server may have received the request. It is also refused after
  /// a 417: libcurl would send the head with the `Expect` again, and the body at once after it.
  private var maySendAgain: Bool {
    request.mayBeSentAgainByLibcurl && collector.lastStatus == nil
      && !connection.notes.isRefused && !connection.notes.requiresHTTP11
  }

  /// Why the request is not sent over a connection; nil if it is.
  private func reasonNotToSend(over socket: CInt?) -> TransferError? {
    if request.configuration.version == .http2, let chosen = connection.notes.chosenProtocol,
      chosen != "h2"
    {
      return explanation.noHTTP2(
        chosen.isEmpty ? "it chooses no protocol (ALPN)" : "it chooses \(chosen.quoted) (ALPN)")
    }
    guard connection.hasInputBefore(request, socket, easy.sockets) else { return nil }
    connection.isSpent = connection.isReused
    return explanation.notSent(
      "the server has closed the connection, or sent something before it had the request")
  }

  func mayRewind(to offset: Int64) -> Bool {
    offset == 0 && upload.read == upload.start
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlRead {
    guard abortReason == nil else { return .abort }
    // libcurl would also send the body if the server doesn't respond for some time.
    if request.requiresContinue, !collector.hasContinued {
      abort(with: .notAskedForBody(request.url, length: request.bodyLength))
      return .abort
    }
    if isPaused { return .later }
    count(uploaded: easy.uploaded)
    if !hasBegunBody { connection.beginBody(of: request) }
    hasBegunBody = true
    let allowed = turn.allowed(of: upload.rest)
    guard allowed > 0 else {
      awaitTurn()
      return .later
    }
    let piece = UnsafeMutableRawBufferPointer(
      rebasing: buffer.prefix(min(request.maximumPiece, Int(clamping: allowed))))
    switch upload.read(into: piece) {
    case .bytes(let count):
      turn.use(count)
      return .bytes(count)
    case .later:
      return .later
    case .end:
      // A body of known length ends when its last byte is handed over; `count` notices that.
      if upload.total == nil { clock.noteBodyEnd() }
      return .bytes(0)
    case .failed(let error):
      abort(with: error)
      return .abort
    }
  }

  func receive(headLine: UnsafeRawBufferPointer) -> Bool {
    clock.noteHeadLine()
    noteSettled()
    easy.closesConnection = request.hasPriorKnowledge
    collector.isOverHTTP2 = isHTTP2
    guard collector.receive(headLine: headLine) else { return fail(collector.failure) }
    if collector.status != nil, atResponse == nil {
      // The server responded without waiting for the bytes that are sent from here on.
      count(uploaded: easy.uploaded)
      atResponse = (upload.isHandedOver, upload.handedOver)
      noteUnacknowledged(connection.socket.map(unacknowledged(in:)) ?? 0)
    }
    return true
  }

  /// How many bytes the server's system didn't have when it sent the response whose head is being read. A segment acknowledges
  /// all bytes that arrived before it (RFC 9293 §3.4), and this system handles the acknowledgment before the segment's data. 0
  /// if the number isn't known: with HTTP/2, other frames are in the queue, too.
  private func unacknowledged(in socket: CInt) -> Int64 {
    guard request.announcesBody, !isHTTP2,
      // The queue of a Unix-domain socket means something else.
      writtenBytes(of: socket) != nil
    else { return 0 }
    return unacknowledgedBytes(of: socket) ?? 0
  }

  /// Notes that the server responded without the last `count` bytes that were handed over. These bytes include framing.
  private func noteUnacknowledged(_ count: Int64) {
    guard count > 0 else { return }
    atResponse = (false, max(upload.handedOver - count, 0))
  }

  func receive(body: UnsafeRawBufferPointer) -> CurlReceipt {
    clock.noteMovement()
    let receipt = collector.receive(body: body)
    switch receipt {
    case .taken: break
    case .later: isWaitingForTarget = true
    case .abort: fail(collector.failure)
    }
    return receipt
  }

  @discardableResult private func fail(_ error: TransferError?) -> Bool {
    if let error { abort(with: error) }
    return false
  }

  func progressed(uploaded: Int64) -> Bool {
    if isPaused, !easy.isPauseInEffect { easy.setPaused(true) }
    if isWatched || Moved(uploaded, self) != moved { count(uploaded: uploaded) }
    // libcurl calls this after it has read all bytes that were there.
    collector.flush()
    return abortReason == nil
  }

  func sent(head: UnsafeRawBufferPointer) {
    let line = head.prefix { $0 != 13 }
    if line.count >= 7, line.suffix(7).elementsEqual(" HTTP/2".utf8) {
      connection.sentHTTP2 = true
      if let socket = connection.socket { easy.sockets?.noteHTTP2(socket) }
    }
    tracer?.requestHead(String(decoding: head, as: UTF8.self), isURLSecret: request.url.isSecret)
  }

  func noted(_ text: UnsafeRawBufferPointer) {
    if let last = connection.notes.note(text), let socket = connection.socket {
      easy.sockets?.noteGoAway(socket, lastStream: last)
    }
    // libcurl may give the connection to another request before it reports the end of this one.
    if connection.notes.isConnectionFree { noteConnectionFree() }
    tracer?.libraryNote(String(decoding: text, as: UTF8.self))
  }

  private func noteConnectionFree() {
    guard let socket = connection.socket else { return }
    easy.sockets?.noteFree(socket, by: ObjectIdentifier(easy))
  }

  func received(recordType type: UInt8, isInner: Bool) {
    // RFC 8446 §5.1: application_data(23). With TLS 1.3, the outer type of all encrypted records is the same.
    if type == 23, isInner || connection.notes.hasOpenRecordTypes { noteSettled() }
  }

  /// If the server speaks HTTP/2, notes that it has sent something after its SETTINGS.
  private func noteSettled() {
    if request.mayBeHTTP2, let socket = connection.socket { easy.sockets?.noteSettled(socket) }
  }

  func receivedCertificateRequest() {
    connection.isAskedForCertificate = true
  }

  func received(alert: UInt8) {
    connection.alert = alert
  }

  // MARK: Progress

  /// The counts that change if bytes are sent or received. libcurl reports the progress of all transfers whenever one of them
  /// makes progress.
  private struct Moved: Equatable {
    let uploaded, read, received: Int64
    let requestCount: Int

    init(_ uploaded: Int64, _ exchange: CurlExchange) {
      self.uploaded = uploaded
      read = exchange.upload.read
      received = exchange.collector.received
      requestCount = exchange.connection.requestCount
    }
  }

  private func count(uploaded: Int64) {
    moved = Moved(uploaded, self)
    upload.count(uploaded: uploaded, isHTTP2: isHTTP2)
    if upload.total == upload.handedOver, connection.requestCount > 0 { clock.noteBodyEnd() }
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
    guard connection.requestCount > 0 else { return nil }
    if upload.isHandedOver { return .waiting }
    return upload.read > upload.start ? .sending : nil
  }

  private var acknowledged: Int64? {
    // The bytes that the server keeps of an upload are those that it has confirmed itself.
    guard !isHTTP2, !request.isPieceOfUpload, collector.upload.resource == nil,
      let socket = connection.socket, let queued = unacknowledgedBytes(of: socket)
    else { return nil }
    return max(upload.handedOver - queued, 0)
  }
}

// MARK: The result

extension CurlExchange {
  private var hasRead: Bool { upload.read > upload.start }

  private func result(_ error: TransferError?, isTransient: Bool) -> ExchangeResult {
    let (stage, response) = (stage, collector.response)
    let sentExpect = request.expectTimeout != nil
    tracer?.bodies(
      sent: request.announcesBody ? upload.handedOver : nil,
      received: collector.hasResponse ? collector.received : nil)
    let isComplete = atResponse?.isComplete ?? (stage == .sent)
    return ExchangeResult(
      facts: AttemptFacts(
        response: response.map { AttemptFacts.Response($0) }, failure: error,
        isTransient: isTransient, stage: stage,
        handedOverAtResponse: isComplete ? upload.handedOver : atResponse?.handedOver ?? 0,
        isResponseToCompleteRequest: stage == .sent && isComplete,
        isEncrypted: request.isEncrypted, speaksHTTP10: response?.version == "1.0",
        expectRejected: sentExpect && !hasRead && collector.status == 417,
        repetition: repetition, demandedHTTP11: demandedHTTP11, upload: collector.upload),
      response: response, isHeld: collector.isHeld,
      chosenTarget: collector.chosenTarget, hasBegunBody: hasBegunBody,
      framing: framing, handedOver: upload.handedOver, start: upload.start, read: upload.read,
      sha256: stage == .sent && request.computesDigest ? upload.finishDigest() : nil,
      bodyDigest: upload.digest,
      isServerVerified: request.isEncrypted && connection.requestCount > 0
        ? connection.isVerified : nil,
      metrics: easy.metrics(firstByte: clock.timeToFirstByte),
      requestCount: connection.requestCount,
      trustQuestion: abortReason == nil && !collector.hasResponse
        ? easy.certificateCheck?.question : nil,
      unresolvedHost: unresolvedHost,
      hasContinued: collector.hasContinued,
      expectIgnored: sentExpect && hasRead && !collector.hasContinued
        && collector.status != 417)
  }

  /// Returns why there is no complete response, and whether another attempt may succeed.
  private func outcome(_ failure: WireFailure?) -> (TransferError?, isTransient: Bool) {
    var error = abortReason ?? collector.failure
    var isTransient = false
    if error == nil, let failure, !isSalvaged, !collector.hasDroppedTooMuch {
      (error, isTransient) = explain(failure)
    }
    if error == nil, failure == nil, request.isEncrypted, collector.endsWithConnection,
      CurlLibrary.showsCloseNotify, !connection.hasCloseNotify(request)
    {
      // RFC 9112 §9.8: "clients SHOULD treat any close that isn't a complete closure alert as incomplete".
      (error, isTransient) = explanation.connectionLost(
        "its connection ended without a close_notify", nil)
    }
    if error == nil, failure == nil, collector.lacksAnnouncedBytes {
      (error, isTransient) = explanation.connectionLost("the server closed the connection", nil)
    }
    if !collector.hasResponse, error == nil, !isSalvaged {
      (error, isTransient) = explanation.connectionLost(
        "the response's head is incomplete", failure)
    }
    if collector.hasResponse {
      if error != nil { collector.truncate() }
      if error?.code == .cancelled { error = .cancelledDuringResponse }
    }
    if let code = error?.code,
      [.stalled, .responseTimedOut, .timedOut, .connectionLost].contains(code)
    {
      isTransient = true
    }
    return (error, isTransient)
  }

  private func explain(_ failure: WireFailure) -> (TransferError, isTransient: Bool) {
    if connection.notes.requiresHTTP11, !collector.hasResponse {
      return (explanation.http11Demanded, false)
    }
    if connection.isSpent || isRefused {
      return (
        explanation.notSent(
          isRefused
            ? "the server has not looked at it (HTTP/2 REFUSED_STREAM or GOAWAY)"
            : "the server has closed the connection"), true
      )
    }
    if connection.notes.hasEndedEarly, !collector.hasResponse {
      return (explanation.responseLost, true)
    }
    if let refused = easy.certificateCheck?.refused, connection.requestCount == 0 {
      return (.certificateRefusedByProgram(refused, request.url), false)
    }
    // If what the server sends is not valid, nghttp2 ends the connection with GOAWAY, and libcurl says that there was no
    // response.
    if failure.cause == .noResponse, isClosedByUs { return explanation.malformedHTTP2(nil, failure) }
    return explanation.error(for: failure)
  }

  /// The host whose address could not be resolved; nil if the exchange failed for another reason.
  private func unresolvedHost(_ failure: WireFailure) -> String? {
    switch failure.cause {
    // SOCKS4 knows only addresses of IPv4, so waiting for an address of IPv6 is of no use.
    case .hostNotFound(.serverForProxy) where explanation.url.origin.host.contains(":"): nil
    case .hostNotFound(let lookup): explanation.lookedUpHost(lookup)
    default: nil
    }
  }

  private var isClientCertificateRefused: Bool {
    connection.refusesClientCertificate(request, hasResponse: collector.lastStatus != nil)
  }

  /// How to send the request again at once, not counted as an attempt, if the server has not processed it; nil if it must not be
  /// sent again at once. Each repetition uses a new connection or another version of HTTP, so the repetitions end.
  private var repetition: ImmediateRepeat? {
    guard abortReason == nil, !hasBegunBody || request.body?.isReplayable == true else {
      return nil
    }
    if let response = collector.response {
      return request.isVersionRefused(by: response.status, response.headers) ? .overHTTP2 : nil
    }
    if request.prefersHTTP11, lacksHTTP11 { return .overHTTP2 }
    return connection.isSpent || connection.isReused && connection.notes.isRefused
      ? .onNewConnection : nil
  }

  /// The server's demand for HTTP/1.1; nil if there is a response, or another reason for its absence.
  private var demandedHTTP11: HTTP11Demand? {
    guard connection.notes.requiresHTTP11, abortReason == nil, !collector.hasResponse else {
      return nil
    }
    return request.configuration.version == .automatic ? .allowed : .forbidden
  }

  /// Whether the server may speak only HTTP/2. RFC 7301 §3.2: a server that knows none of the protocols that the client offers
  /// refuses the handshake. Some servers complete the handshake without a protocol, and then end the connection. A server that
  /// speaks HTTP/1.1 and doesn't know ALPN may also end the connection, so the request counts as an attempt once a part of the
  /// body was sent.
  private var lacksHTTP11: Bool {
    hasNoCommonProtocol || connection.notes.chosenProtocol == "" && stage == .notSent
  }

  /// Whether the server has refused the request without processing it. After the head of a response, no message of the server
  /// can mean such a refusal.
  private var isRefused: Bool { connection.notes.isRefused && collector.status == nil }

  /// How much of the request the server may have.
  private var stage: AttemptStage {
    guard connection.requestCount > 0, !isRefused, !isClientCertificateRefused,
      abortReason?.code != .http2Unavailable
    else { return .notSent }
    if connection.notes.hasEndedEarly { return .sent }
    guard isHTTP2, let total = upload.total, upload.read == total else { return upload.stage }
    // libcurl passes no more bytes to HTTP/2 than the server's windows allow, but doesn't count these bytes if it could not
    // write the rest of a frame. Bytes that were not written to the socket were certainly not sent.
    return connection.mayHaveSent(total - upload.start) ? .sent : .partlySent
  }

  private var framing: TransferResult.Framing {
    if !request.announcesBody { return .noBody }
    if isHTTP2 { return .http2 }
    return upload.total == nil ? .chunked : .contentLength
  }

  private var explanation: FailureExplanation {
    FailureExplanation(
      url: request.url, stage: stage, handedOver: upload.handedOver, total: upload.total,
      response: collector.response, received: collector.received, proxy: request.proxy,
      isConnected: connection.requestCount > 0, configuration: request.configuration,
      encryption: encryption)
  }

  private var encryption: EncryptionFacts {
    // The handshake with a proxy comes before the tunnel through it.
    let isWithProxy = request.proxy?.isEncrypted == true && easy.connectStatus == 0
    return EncryptionFacts(
      settings: request.configuration.tls, isWithProxy: isWithProxy, alert: connection.alert,
      problem: easy.certificateCheck?.problem,
      isClientCertificateRefused: isClientCertificateRefused,
      isClientCertificateDoubtful: isClientCertificateDoubtful)
  }

  /// Whether the server may have refused the client's certificate: the server asked for a certificate, and ended the new
  /// connection before it responded.
  private var isClientCertificateDoubtful: Bool {
    request.isEncrypted && connection.isAskedForCertificate && !connection.isReused
      && collector.lastStatus == nil && !connection.notes.isRefused
  }
}
