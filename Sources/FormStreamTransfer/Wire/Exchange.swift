import FormStream
import FormStreamDigest
import FormStreamPlatform

/// One attempt on the wire: sends a request, receives its response, and reports what is known at the end.
///
/// Everything except its creation happens on the engine's thread.
final class Exchange: @unchecked Sendable {
  let easy: CurlEasy
  private let request: WireRequest
  private let publisher: ProgressPublisher
  private let tracer: Tracer?
  private let collector: ResponseCollector
  private var upload: Upload
  private var clock = ExchangeClock()
  private var connection = Connection()
  private var isPaused = false
  /// Why this client ended the exchange early; nil if it didn't.
  private var abortReason: TransferError?
  /// How much of the request was sent when a final response began; nil before.
  private var atResponse: (stage: AttemptStage, handedOver: Int64)?
  /// Whether the response was read from the socket of a broken connection.
  private var isSalvaged = false
  /// Called once at the end; set by the engine.
  var completion: ((ExchangeResult) -> Void)?

  /// What is known about the connection.
  private struct Connection {
    /// How many requests libcurl has begun.
    var requestCount = 0
    var socket: CInt?
    /// Whether the sent head is HTTP/2; libcurl knows the version only after a response has arrived.
    var sentHTTP2 = false
  }

  init(_ request: WireRequest, publisher: ProgressPublisher, tracer: Tracer?) throws(TransferError)
  {
    easy = try CurlEasy()
    self.request = request
    self.publisher = publisher
    self.tracer = tracer
    upload = Upload(total: request.bodyLength)
    collector = ResponseCollector(
      url: request.url, target: request.options.responseTarget, isFinal: request.isFinal,
      traceHead: tracer.map { tracer in { tracer.responseHead($0) } })
  }

  private var isHTTP2: Bool { connection.sentHTTP2 || easy.httpVersion >= 20 }

  // MARK: Called by the engine

  /// Prepares everything; returns false if the exchange can't be started.
  func prepare(on engine: Engine) -> Bool {
    easy.setOptions(for: request)
    easy.setDelegate(
      self, sendsBody: request.announcesBody, traces: tracer != nil || request.mayBeHTTP2)
    if request.options.computesDigest, request.announcesBody {
      do { try upload.computeDigest() } catch { abort(with: .digestFailed(error)) }
    }
    if let body = request.body {
      upload.start(
        body.hasStreams
          ? ThreadedUploadSource(body) { [id = ObjectIdentifier(easy)] in engine.sourceHasMore(id) }
          : DirectUploadSource(body) as any UploadSource)
    }
    return easy.startFailure == nil && abortReason == nil
  }

  /// Ends the exchange early. The reason becomes its failure.
  func abort(with reason: TransferError) {
    if abortReason == nil { abortReason = reason }
  }

  func setPaused(_ isPaused: Bool) {
    self.isPaused = isPaused
    clock.noteMovement()
    easy.setPaused(isPaused)
    if !isPaused, !upload.isWaitingForSource { easy.resumeReading() }
  }

  func sourceHasMore() {
    guard upload.sourceHasMore() else { return }
    clock.noteMovement()
    if !isPaused { easy.resumeReading() }
  }

  /// Aborts the exchange if a time limit is exceeded; returns whether it did.
  func abortIfOverdue() -> Bool {
    let activity: ExchangeClock.Activity =
      if isPaused || upload.isWaitingForSource || connection.requestCount == 0 {
        .waitingForOthers
      } else {
        collector.status == nil ? .beforeResponse : .receiving
      }
    guard
      let error = clock.exceededLimit(
        of: request.options.limits, during: activity, to: request.url)
    else { return false }
    abort(with: error)
    return true
  }

  /// Called before a socket is closed. If it is this exchange's, and no response was read, the unread bytes may hold
  /// one.
  func willClose(_ socket: CInt) {
    guard socket == connection.socket else { return }
    connection.socket = nil
    guard !request.isEncrypted, abortReason == nil, collector.response == nil, !isHTTP2 else {
      return
    }
    let bytes = pendingBytes(of: socket, limit: 64 * 1024)
    guard !bytes.isEmpty else { return }
    isSalvaged = SalvagedResponse.feed(bytes, to: collector)
  }

  /// Called after libcurl is done with the exchange: reports its result.
  func finish(_ failure: CurlFailure?) {
    upload.close()
    count(uploaded: easy.uploaded)
    completion?(result(failure))
    completion = nil
  }
}

// MARK: Called by libcurl

extension Exchange: CurlDelegate {
  func willSendRequest(over socket: CInt?) -> Bool {
    connection.requestCount += 1
    if connection.requestCount > 1, !maySendAgain { return false }
    connection.socket = socket
    clock.noteMovement()
    if upload.total == 0 { clock.restartWaitForResponse() }
    guard let body = request.body, body.contentLength == 0, !body.hasStreams,
      let error = upload.failureOfEmptySource()
    else { return true }
    abort(with: error)
    return false
  }

  /// If a reused connection ends without a response, libcurl sends the request again by itself. That is refused unless
  /// the method is safe and there is no body, because the server may have received the request. It is also refused
  /// after a 417: libcurl would send the head with the `Expect` again, and the body at once after it.
  private var maySendAgain: Bool {
    request.method.isSafe && !request.announcesBody && collector.lastStatus == nil
  }

  func mayRewind(to offset: Int64) -> Bool {
    offset == 0 && upload.read == 0
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlRead {
    guard abortReason == nil else { return .abort }
    if isPaused { return .later }
    countBeforeRead()
    switch upload.read(into: buffer) {
    case .bytes(let count):
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
    clock.noteMovement()
    guard collector.receive(headLine: headLine) else { return fail(collector.failure) }
    if collector.status != nil, atResponse == nil {
      // The server responded without waiting for the bytes that are sent from here on.
      countBeforeRead()
      atResponse = (stage, upload.handedOver)
    }
    return true
  }

  func receive(body: UnsafeRawBufferPointer) -> Bool {
    clock.noteMovement()
    guard collector.receive(body: body) else { return fail(collector.failure) }
    return true
  }

  private func fail(_ error: TransferError?) -> Bool {
    if let error { abort(with: error) }
    return false
  }

  func progressed(uploaded: Int64) -> Bool {
    if isPaused, !easy.isPauseInEffect { easy.setPaused(true) }
    count(uploaded: uploaded)
    return abortReason == nil
  }

  func sent(head: UnsafeRawBufferPointer) {
    let line = head.prefix { $0 != 13 }
    if line.count >= 7, line.suffix(7).elementsEqual(" HTTP/2".utf8) { connection.sentHTTP2 = true }
    tracer?.requestHead(String(decoding: head, as: UTF8.self))
  }

  func noted(_ text: UnsafeRawBufferPointer) {
    tracer?.libraryNote(String(decoding: text, as: UTF8.self))
  }

  // MARK: Progress

  /// Counts before more is read. In a body of unknown length, libcurl has sent everything that was read before, or it
  /// would not ask for more; its own count includes the framing of chunks.
  private func countBeforeRead() {
    count(uploaded: upload.total == nil ? upload.read : easy.uploaded)
  }

  private func count(uploaded: Int64) {
    upload.count(uploaded: uploaded)
    if upload.total == upload.handedOver, connection.requestCount > 0 { clock.noteBodyEnd() }
    clock.note(handedOver: upload.handedOver, received: collector.received)
    publisher.advance(
      phase, read: upload.read, handedOver: upload.handedOver, acknowledged: acknowledged,
      received: collector.received)
  }

  /// The phase of the progress; nil if it hasn't changed.
  private var phase: TransferProgress.Phase? {
    guard connection.requestCount > 0 else { return nil }
    if upload.isHandedOver { return .waiting }
    return upload.read > 0 ? .sending : nil
  }

  private var acknowledged: Int64? {
    guard !isHTTP2, let socket = connection.socket,
      let queued = unacknowledgedBytes(of: socket)
    else { return nil }
    return max(upload.handedOver - queued, 0)
  }
}

// MARK: The result

extension Exchange {
  private func result(_ failure: CurlFailure?) -> ExchangeResult {
    let (error, isTransient) = outcome(failure)
    let stage = stage
    let sentExpect = request.expectTimeout != nil
    return ExchangeResult(
      response: collector.response, isHeld: collector.isHeld, failure: error,
      isTransient: isTransient, stage: stage,
      handedOverAtResponse: (atResponse?.stage ?? stage) == .sent
        ? nil : atResponse?.handedOver ?? 0,
      framing: framing, handedOver: upload.handedOver,
      sha256: stage == .sent ? upload.finishDigest() : nil, isEncrypted: request.isEncrypted,
      hasContinued: collector.hasContinued,
      expectIgnored: sentExpect && upload.read > 0 && !collector.hasContinued
        && collector.status != 417,
      expectRejected: sentExpect && upload.read == 0 && collector.status == 417)
  }

  /// Completes the response. Returns why there is no complete response, and whether another attempt may succeed.
  private func outcome(_ failure: CurlFailure?) -> (TransferError?, isTransient: Bool) {
    var error = abortReason ?? collector.failure
    var isTransient = false
    if error == nil, let failure, !isSalvaged, !collector.hasDroppedTooMuch {
      (error, isTransient) = explanation.error(for: failure)
    }
    if collector.response == nil, error == nil, !isSalvaged {
      (error, isTransient) = explanation.connectionLost(
        "the response's head is incomplete", failure)
    }
    if collector.response != nil {
      if error != nil { collector.truncate() }
      if error?.code == .cancelled { error = .cancelledDuringResponse }
      do throws(TransferError) {
        try collector.finish()
      } catch let notStored {
        error = notStored
      }
    }
    if let code = error?.code, [.stalled, .responseTimedOut, .timedOut].contains(code) {
      isTransient = true
    }
    return (error, isTransient)
  }

  private var stage: AttemptStage {
    connection.requestCount > 0 ? upload.stage(isHTTP2: isHTTP2) : .notSent
  }

  private var framing: TransferResult.Framing {
    if !request.announcesBody { return .noBody }
    if isHTTP2 { return .http2 }
    return upload.total == nil ? .chunked : .contentLength
  }

  private var explanation: FailureExplanation {
    FailureExplanation(
      url: request.url, stage: stage, handedOver: upload.handedOver, total: upload.total,
      response: collector.response, received: collector.received)
  }
}
