import FormStreamDigest
import FormStream
import Foundation
import FormStreamPlatform

/// One request on the wire, once, and what is known of it at its end.
///
/// All but its making happens on the engine's thread.
final class Exchange: @unchecked Sendable {
  let easy: CurlEasy
  private let order: Order
  private let board: ProgressBoard
  private let tracer: Tracer?
  private let answer: AnswerIntake
  /// Called once; set by the engine.
  var completion: ((End) -> Void)?

  private var feed: (any BodyFeed)?
  private var digest: SHA256?
  /// Why we end it; nil while we don't.
  private var reason: TransferError?
  private var isPaused = false
  private var waitsForSource = false
  private var requests = 0
  private var read: Int64 = 0
  private var handedOver: Int64 = 0
  private var hasReadEnd = false
  private var stageAtResponse: Stage?
  private var handedOverAtResponse: Int64 = 0
  private var socket: CInt?
  private var isSalvaged = false
  /// What the head that went out says; libcurl itself tells the version only once there is an answer.
  private var speaksHTTP2 = false

  // What the limits of time are measured from.
  private let start = ContinuousClock.now
  private var lastMove = ContinuousClock.now
  private var bodyEnd: ContinuousClock.Instant?
  private var moved: (handedOver: Int64, received: Int64) = (0, 0)

  init(_ order: Order, board: ProgressBoard, tracer: Tracer?) throws(TransferError) {
    easy = try CurlEasy()
    self.order = order
    self.board = board
    self.tracer = tracer
    answer = AnswerIntake(
      url: order.url, target: order.options.responseTarget, isFinal: order.isFinal,
      traceHead: tracer.map { tracer in { tracer.responseHead($0) } })
  }

  private var total: Int64? { order.body == nil ? 0 : order.body?.contentLength }
  private var isEncrypted: Bool { order.url.origin.scheme == "https" }
  private var isHTTP2: Bool { speaksHTTP2 || easy.httpVersion >= 20 }

  // MARK: Driven by the engine

  /// Makes everything ready; false where it can't be.
  func prepare(on engine: Engine) -> Bool {
    easy.setUp(order)
    easy.setDelegate(
      self, sendsBody: order.announcesBody, traces: tracer != nil || order.mayBeHTTP2)
    if order.options.computesDigest, order.announcesBody {
      do { digest = try SHA256() } catch { digestFailed(error) }
    }
    if let body = order.body {
      feed =
        body.hasStreams
        ? PumpedFeed(body) { [id = ObjectIdentifier(easy)] in engine.sourceHasMore(id) }
        : DirectFeed(body)
    }
    return easy.startFailure == nil && reason == nil
  }

  /// Ends it for a reason of ours, which is what is told.
  func abort(with reason: TransferError) {
    if self.reason == nil { self.reason = reason }
  }

  func setPaused(_ isPaused: Bool) {
    self.isPaused = isPaused
    lastMove = .now
    easy.setPaused(isPaused)
    if !isPaused, !waitsForSource { easy.resumeReading() }
  }

  func sourceHasMore() {
    guard waitsForSource else { return }
    waitsForSource = false
    lastMove = .now
    if !isPaused { easy.resumeReading() }
  }

  /// Whether it took longer than it may; then it is aborted.
  func isOverdue() -> Bool {
    let limits = order.options.limits
    let now = ContinuousClock.now
    if let limit = limits.attempt, now - start > limit {
      abort(
        with: late(.timedOut, "took longer than \(limit.inSeconds)", "raise the limit (max-time)"))
    } else if isPaused || waitsForSource || requests == 0 {
      // Nobody is waited for but the person, the source, or whoever connects, which libcurl limits.
      return false
    } else if answer.status == nil, let bodyEnd {
      guard let limit = limits.response, now - bodyEnd > limit else { return false }
      abort(
        with: late(
          .responseTimedOut, "was sent, and not answered within \(limit.inSeconds)",
          "ask the server whether it has it"))
    } else if let limit = limits.stall, now - lastMove > limit {
      abort(with: late(.stalled, "moved no byte for \(limit.inSeconds)", "try again later"))
    } else {
      return false
    }
    return true
  }

  private func late(
    _ code: TransferError.Code, _ what: String, _ remedy: String
  ) -> TransferError {
    TransferError(
      code, on: order.url.description, "The request to \(order.url) \(what): \(remedy).")
  }

  /// A socket is about to be closed. Where it is ours and no answer has come, what lies in it may be one.
  func willClose(_ socket: CInt) {
    guard socket == self.socket else { return }
    self.socket = nil
    guard !isEncrypted, reason == nil, answer.response == nil, !isHTTP2 else { return }
    let bytes = pendingBytes(of: socket, limit: 64 * 1024)
    guard !bytes.isEmpty else { return }
    isSalvaged = SalvagedAnswer.feed(bytes, to: answer)
  }

  /// It is off libcurl: tells what is known.
  func finish(_ failure: CurlFailure?) {
    feed?.close()
    feed = nil
    count(uploaded: easy.uploaded)
    completion?(end(failure))
    completion = nil
  }
}

// MARK: What libcurl asks and tells

extension Exchange: CurlDelegate {
  func willSendRequest(over socket: CInt?) -> Bool {
    requests += 1
    if requests > 1, !maySendAgain { return false }
    self.socket = socket
    lastMove = .now
    if total == 0 { bodyEnd = .now }
    return order.body?.contentLength != 0 || order.body?.hasStreams == true || isStillEmpty
  }

  /// Nobody asks for bytes that were not announced: whether there are still none is asked here.
  private var isStillEmpty: Bool {
    var byte: UInt8 = 0
    guard case .failed(let error) = withUnsafeMutableBytes(of: &byte, { feed?.read(into: $0) })
    else { return true }
    abort(with: TransferError(error))
    return false
  }

  /// libcurl sends a request again on its own where a connection that was there already ended without an
  /// answer. Whether the server had it, nobody knows: that is for us to decide, not for libcurl. So it is after a
  /// 417: libcurl would send the body at once behind a head that asks for leave.
  private var maySendAgain: Bool {
    order.method.isSafe && !order.announcesBody && answer.lastStatus == nil
  }

  func mayRewind(to offset: Int64) -> Bool {
    offset == 0 && read == 0
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlRead {
    guard reason == nil else { return .abort }
    if isPaused { return .later }
    // All that was read before is out, or libcurl would not ask for more.
    count(uploaded: total == nil ? read : easy.uploaded)
    var room = buffer
    if let total {
      // Never a byte over what was announced, whoever miscounts.
      room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: total - read)))
    }
    guard !room.isEmpty, let feed else {
      hasReadEnd = true
      return .bytes(0)
    }
    switch feed.read(into: room) {
    case .bytes(let count):
      read += Int64(count)
      hash(UnsafeRawBufferPointer(rebasing: room[..<count]))
      return reason == nil ? .bytes(count) : .abort
    case .later:
      waitsForSource = true
      return .later
    case .failed(let error):
      abort(with: TransferError(error))
      return .abort
    case .end:
      hasReadEnd = true
      bodyEnd = bodyEnd ?? .now
      guard let total, read < total else { return .bytes(0) }
      abort(
        with: TransferError(
          .streamTooShort, on: "the body",
          "The body ended after \(read) of the \(total) bytes that were announced."))
      return .abort
    }
  }

  func receive(headLine: UnsafeRawBufferPointer) -> Bool {
    lastMove = .now
    guard answer.take(headLine: headLine) else { return fail(answer.failure) }
    if answer.status != nil, stageAtResponse == nil {
      // What goes out from here on, the server has not waited for.
      count(uploaded: total == nil ? read : easy.uploaded)
      (stageAtResponse, handedOverAtResponse) = (stage, handedOver)
    }
    return true
  }

  func receive(body: UnsafeRawBufferPointer) -> Bool {
    lastMove = .now
    guard answer.take(body: body) else { return fail(answer.failure) }
    return true
  }

  private func fail(_ error: TransferError?) -> Bool {
    if let error { abort(with: error) }
    return false
  }

  func progressed(uploaded: Int64) -> Bool {
    if isPaused, !easy.isHeld { easy.setPaused(true) }
    count(uploaded: uploaded)
    return reason == nil
  }

  func sent(head: UnsafeRawBufferPointer) {
    let line = head.prefix { $0 != 13 }
    if line.count >= 7, line.suffix(7).elementsEqual(" HTTP/2".utf8) { speaksHTTP2 = true }
    tracer?.requestHead(String(decoding: head, as: UTF8.self))
  }

  func noted(_ text: UnsafeRawBufferPointer) {
    tracer?.libraryNote(String(decoding: text, as: UTF8.self))
  }

  private func hash(_ bytes: UnsafeRawBufferPointer) {
    do { try digest?.update(bytes) } catch { digestFailed(error) }
  }

  private func digestFailed(_ error: DigestError) {
    abort(
      with: TransferError(.engineFailed, on: "the digest", error.description, underlying: error))
  }

  /// libcurl's own count has the framing of chunks in it: then what was read before is what is out.
  private func count(uploaded: Int64) {
    if let total {
      handedOver = max(handedOver, min(uploaded, read, total))
      if handedOver == total, bodyEnd == nil, requests > 0 { bodyEnd = .now }
    } else {
      handedOver = max(handedOver, hasReadEnd ? read : min(uploaded, read))
    }
    if moved != (handedOver, answer.received) {
      moved = (handedOver, answer.received)
      lastMove = .now
    }
    board.advance(
      phase, read: read, handedOver: handedOver, acknowledged: acknowledged,
      received: answer.received)
  }

  /// What is being done; nil while it is what it was.
  private var phase: TransferProgress.Phase? {
    guard requests > 0 else { return nil }
    if total.map({ handedOver == $0 }) ?? hasReadEnd { return .waiting }
    return read > 0 ? .sending : nil
  }

  private var acknowledged: Int64? {
    guard !isHTTP2, let socket, let queued = unacknowledgedBytes(of: socket) else {
      return nil
    }
    return max(handedOver - queued, 0)
  }
}

// MARK: The end

extension Exchange {
  private func end(_ failure: CurlFailure?) -> End {
    var error = reason ?? answer.failure
    var isTransient = false
    if error == nil, let failure, !isSalvaged, !answer.hasEnough {
      (error, isTransient) = explanation.told(of: failure)
    }
    if answer.response == nil, error == nil, !isSalvaged {
      (error, isTransient) = explanation.lost("the head of the answer broke off", failure)
    }
    if answer.response != nil {
      if error != nil { answer.cut() }
      if error?.code == .cancelled { error = .calledInAnswer }
      do throws(TransferError) {
        try answer.finish()
      } catch let notStored {
        error = notStored
      }
    }
    if let code = error?.code {
      isTransient = isTransient || [.stalled, .responseTimedOut, .timedOut].contains(code)
    }
    var digestValue: SHA256.Digest?
    if stage == .sent, let digest = digest.take() { digestValue = try? digest.finalize() }
    return End(
      response: answer.response, isHeld: answer.isHeld, failure: error, isTransient: isTransient,
      stage: stage,
      handedOverAtResponse: (stageAtResponse ?? stage) == .sent ? nil : handedOverAtResponse,
      framing: framing, handedOver: handedOver, sha256: digestValue, isEncrypted: isEncrypted,
      hasContinued: answer.hasContinued,
      askedInVain: order.askingPatience != nil && read > 0 && !answer.hasContinued
        && answer.status != 417,
      isAskingRefused: order.askingPatience != nil && read == 0 && answer.status == 417)
  }

  private var stage: Stage {
    guard requests > 0 else { return .notSent }
    guard let total else { return hasReadEnd ? .sent : .partlySent }
    // HTTP/2 counts what is in its own buffers: what was read may be out.
    let out = isHTTP2 ? read : handedOver
    return out >= total ? .sent : .partlySent
  }

  private var framing: TransferResult.Framing {
    if !order.announcesBody { return .noBody }
    if isHTTP2 { return .http2 }
    return total == nil ? .chunked : .contentLength
  }

  private var explanation: Explanation {
    Explanation(
      url: order.url, stage: stage, handedOver: handedOver, total: total, response: answer.response,
      received: answer.received)
  }
}
