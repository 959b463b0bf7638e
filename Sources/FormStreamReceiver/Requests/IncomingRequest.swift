import FormStreamDigest
import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform

/// A request while it is received. This object decides whether the request is accepted, decodes the body, and makes the
/// response.
///
/// All calls come from the thread of the request's connection. This is one file because its state is private: each step of
/// the connection changes it.
final class IncomingRequest {
  /// The next thing to do on the connection.
  enum Step {
    /// Read on.
    case proceed
    /// Send the response by libmicrohttpd. The request has been read to its end, unless the response closes the connection.
    case respond(Response)
    /// Send the response without libmicrohttpd, in the middle of the body, and close the connection.
    case respondAndClose(Response)
    /// Close the connection at once.
    case close
  }

  enum State {
    /// The head is not complete.
    case head
    /// The body is being decoded.
    case body(BodyDecoder, PartCollector)
    /// The body is appended to a resumable upload.
    case appending(Append)
    /// The rest of the body, at most `remaining` bytes, is discarded; then the response is sent.
    case discarding(Response, remaining: Int64)
    case responded
  }

  /// How many bytes of a refused body are read before the response, if the response can't be sent at once.
  private static let maximumDiscarded: Int64 = 1024 * 1024

  /// How many bytes are discarded at most after a head or chunks that can't be read.
  private static let maximumUnread = 8 * 1024 * 1024

  let service: Service
  let connection: Connection
  /// The target as the client sent it.
  let target: String
  /// The target's size in bytes, before bytes that are not UTF-8 were replaced.
  let targetSize: Int
  private let began = ContinuousClock.now
  /// The memory for this request's record, taken from the budget that all requests share.
  let memory: MemoryBudget.Share
  /// When the head was complete.
  private var time = ""
  var head: RequestHead?
  var state = State.head
  private var isBodyBegun = false
  var bodyBytes: Int64 = 0
  /// How many bytes of the body have arrived, including the discarded bytes.
  private var arrivedBytes: Int64 = 0
  private var bodyLimit = Int64.max
  var collector: PartCollector?
  private var announcedDigest: AnnouncedDigest?
  /// The digest of the body so far; nil if none was announced.
  private var bodyDigest: PartDigest?
  private var failure: ReceivedForm.Failure?
  private var cause: (any Error)?
  /// The resumable upload that this request has completed; nil if there is none.
  var processed: ProcessedUpload?
  /// Whether the request is reported. A request that only goes on with a resumable upload is not.
  var isRecorded = true
  /// How many bytes of a resumable upload are kept after its connection ended; nil if there is no such upload.
  private var offsetKept: Int64?
  /// The request as the record in the response describes it; nil until there is a response.
  private var received: ReceivedRequest?
  private var status: Int?
  private var duration: Duration?
  /// Whether the response was sent without libmicrohttpd.
  private var isSentDirectly = false
  /// Whether the response is the connection's last one.
  var closesConnection = false
  /// Whether the client must still be given time to read the response.
  private var mustDrain = false
  /// Whether libmicrohttpd sends a response of its own, and has not failed to do so.
  private var isSentByLibrary = false

  init(_ service: Service, on connection: Connection, target: String, targetSize: Int) {
    self.service = service
    self.connection = connection
    self.target = target
    self.targetSize = targetSize
    memory = service.memory.share()
  }

  /// Whether the head is not complete yet.
  var isNew: Bool { head == nil }

  /// Whether the response may have a body.
  var allowsResponseBody: Bool { head?.method != "HEAD" }

  /// Handles the complete head.
  func begin(_ head: RequestHead) -> Step {
    guard case .head = state else { return .close }
    self.head = head
    time = recordTime()
    connection.beginBody { [unowned self] in cutOff($0) }
    guard connection.beginHandling(0) else { return .close }
    defer { connection.endHandling() }
    let request = head.request(from: connection.peer)
    service.onHead(request)
    var operation: UploadOperation?
    do {
      let limits = service.configuration.limits
      if let refusal = head.refusal(limit: limits.head) {
        return refuse(refusal, isEndKnown: false)
      }
      if let refusal = connection.refusal ?? service.refusal(of: head) { throw refusal }
      operation = service.uploads == nil ? nil : UploadOperation(head)
      if let store = service.uploads, let operation,
        let step = try begin(operation, head, in: store)
      {
        return step
      }
      guard head.isUpload else {
        state = .discarding(try service.page(for: head, request), remaining: 0)
        return respondWithoutBody(head)
      }
      let decoder: BodyDecoder
      (decoder, bodyLimit) = try service.bodyDecoder(for: head)
      if head.contentLength ?? 0 > bodyLimit { throw UploadRefusal.bodyTooLarge(bodyLimit) }
      if let store = service.uploads, case .create(let fields) = operation,
        let step = try createUpload(fields, head, limit: bodyLimit, in: store)
      {
        return step
      }
      let collector = PartCollector(
        try service.handler.begin(request),
        options: service.collectorOptions(reserving: memory.grow(by:)))
      self.collector = collector
      announcedDigest = try AnnouncedDigest(head)
      if announcedDigest != nil { bodyDigest = try PartDigest() }
      if case .raw = decoder {
        try collector.begin(head.rawPart, isText: false)
      }
      state = .body(decoder, collector)
      return .proceed
    } catch {
      // A client that announces no length may still send a body, so the bytes that follow may not be a request.
      return refuse(
        operation?.isOrdinary ?? true
          ? UploadRefusal(error) : refusal(of: error, isKept: operation?.isCreation == false),
        cause: error,
        isEndKnown: head.framing != .none || !head.isUpload)
    }
  }

  /// Handles the next bytes of the body.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Step {
    guard connection.beginHandling(bytes.count) else { return .close }
    defer { connection.endHandling() }
    isBodyBegun = true
    arrivedBytes += Int64(bytes.count)
    switch state {
    case .body(let decoder, let collector):
      do {
        guard bodyLimit - bodyBytes >= bytes.count else { throw UploadRefusal.bodyTooLarge(bodyLimit) }
        bodyBytes += Int64(bytes.count)
        try bodyDigest?.update(bytes)
        try decoder.decode(bytes, into: collector)
        return .proceed
      } catch {
        return refuse(UploadRefusal(error), cause: error)
      }
    case .appending(let append): return self.append(bytes, by: append)
    case .discarding(let response, let remaining):
      let remaining = remaining - Int64(bytes.count)
      guard remaining >= 0 else { return .close }
      state = .discarding(response, remaining: remaining)
      return .proceed
    case .head, .responded:
      return .close
    }
  }

  /// Handles the end of the request.
  func end() -> Step {
    guard connection.beginHandling(0) else { return .close }
    defer { connection.endHandling() }
    switch state {
    case .body(let decoder, let collector):
      do {
        try decoder.end(collector)
        if let digest = try bodyDigest?.finalize() { try announcedDigest?.check(digest) }
        return respond(try collector.end { upload, parts in try upload.endAndRespond(parts) })
      } catch {
        return refuse(UploadRefusal(error), cause: error, isRead: true)
      }
    case .appending(let append): return endAppending(append)
    case .discarding(var response, _):
      // The client must not send another request on this connection.
      if service.isStopping || connection.refusal != nil { response.closes = true }
      state = .responded
      note(response)
      connection.enter(.response)
      return .respond(response)
    case .head, .responded:
      return .close
    }
  }

  /// Ends the request and reports it. Nothing more of the request will be received or sent.
  ///
  /// - Parameter isSent: whether libmicrohttpd sent the complete response that it was given.
  func finish(isSent: Bool) {
    if mustDrain {
      mustDrain = false
      connection.sendLastResponse([], discarding: Self.maximumUnread)
    }
    let (isCut, statusOfCut) = connection.cut
    // The time of `onRequest` doesn't count against the client.
    connection.enter(.lingering)
    // A connection that is about to end must not count as waiting for a request.
    defer { connection.enter(closesConnection ? .draining : .head) }
    if case .appending(let append) = state {
      // What has arrived is kept, whatever becomes of this request.
      offsetKept = append.keptOffset
      state = .responded
    } else {
      let isUpload = head?.isUpload == true && isRecorded
      guard isUpload || processed != nil || failure != nil else { return }
    }
    if received == nil {
      failure = ReceivedForm.Failure(connection.cutReason ?? connectionLost)
      makeRecord(isComplete: false, status: isCut ? statusOfCut : nil)
    } else if status == nil {
      // A response was made, but the client has received none of it.
      received?.noteNoResponse()
    }
    guard var received else { return }
    if !isSentDirectly { status = isCut ? statusOfCut : isSent || isSentByLibrary ? status : nil }
    // Files of a failed upload are removed before the request is reported.
    state = .responded
    collector = nil
    received.status = status
    received.duration = duration ?? .now - began
    received.underlying = cause
    received.arrivedBytes = arrivedBytes
    service.onRequest(received)
  }
}

extension IncomingRequest {
  /// Handles a head, or the framing of a body, that libmicrohttpd can't read and refuses itself. libmicrohttpd's own response
  /// would be a page without the record, and would contain the response's head twice. It would be lost if the client is still
  /// sending. So the receiver sends another response first, except under TLS, where only libmicrohttpd can send.
  func refuseUnreadable(status: Int) {
    let refusal: UploadRefusal
    switch state {
    case .head:
      guard isNew, failure == nil else { return }
      time = recordTime()
      refusal = UploadRefusal(unreadableHead: status)
    case .body, .appending:
      // At this moment, another thread may be sending a response and cutting the client off.
      guard connection.beginHandling(0) else { return }
      refusal = UploadRefusal(unreadableChunks: status, at: bodyBytes)
    // Under TLS, the body of a refused request is read before the response is sent.
    case .discarding(let response, _):
      guard connection.beginHandling(0) else { return }
      // The record says why the receiver refused the request. The status in the record is the status of libmicrohttpd's
      // response, because the client gets that response.
      makeRecord(isComplete: false, status: status)
      note(response)
      return letLibraryRespond(status)
    case .responded: return
    }
    failure = ReceivedForm.Failure(refusal)
    makeRecord(isComplete: false, status: connection.isTLS ? status : refusal.status)
    let response = response(to: refusal)
    note(response)
    // Releasing the collector removes the parts' files.
    collector = nil
    guard !connection.isTLS else { return letLibraryRespond(status) }
    state = .responded
    // libmicrohttpd crashes if the daemon is stopped before libmicrohttpd has made its own response. So this method does not
    // wait for the client; `finish(isSent:)` does.
    isSentDirectly = true
    mustDrain = true
    if !connection.sendLastResponseAtOnce(service.bytes(of: response)) { self.status = nil }
  }

  private func letLibraryRespond(_ status: Int) {
    state = .responded
    isSentByLibrary = true
    self.status = status
    connection.enter(.response)
  }

  /// Notes that libmicrohttpd logged a failure. If libmicrohttpd was sending its own response, the response counts as not sent.
  func noteFailedResponse() {
    guard isSentByLibrary else { return }
    isSentByLibrary = false
    status = nil
  }

  /// The receiver's own response to a refusal, with the record that was made.
  private func response(to refusal: UploadRefusal) -> Response {
    var response = response(status: refusal.status)
    response.addHeaders(of: refusal)
    return response
  }

  /// Makes the response to a client that is cut off in the middle of its body, and the record of the request.
  ///
  /// Unlike all other methods, this method is not called on the connection's thread. It is called under the
  /// connection's lock, and only while no bytes are being handled.
  ///
  /// - Returns: nil if there is nothing to send.
  private func cutOff(_ refusal: UploadRefusal) -> (status: Int, bytes: [UInt8])? {
    switch state {
    case .body, .appending: break
    case .head, .discarding, .responded: return nil
    }
    guard !connection.isTLS else { return nil }
    failure = ReceivedForm.Failure(refusal)
    makeRecord(isComplete: false, status: refusal.status)
    status = refusal.status
    return (refusal.status, service.bytes(of: response(to: refusal)))
  }

  private func note(_ response: Response) {
    status = response.status
    duration = .now - began
  }

  private var connectionLost: UploadRefusal {
    UploadRefusal(
      .connectionLost, status: 400,
      "The connection ended at byte \(bodyBytes) of the body, or the body's framing is broken there."
        + (offsetKept.map { " The upload can go on after its first \(counted($0, "byte", "bytes"))." } ?? "")
    )
  }

  /// Refuses the request.
  ///
  /// - Parameters:
  ///   - cause: the error that led to the refusal.
  ///   - isEndKnown: whether it is known where the request ends.
  ///   - isRead: whether the end of the request has been read.
  func refuse(
    _ refusal: UploadRefusal, cause: (any Error)? = nil, isEndKnown: Bool = true,
    isRead: Bool = false
  ) -> Step {
    failure = ReceivedForm.Failure(refusal)
    if let offset = (cause as? MultipartError)?.offset { bodyBytes = offset }
    self.cause = cause
    if memory.isExceeded {
      // This request drops its parts, and gives its memory back to other requests at once. If each request kept its memory
      // until its client has read the response, many large forms that arrive together would all be refused.
      collector = nil
      memory.release()
    }
    makeRecord(isComplete: false, status: refusal.status)
    var response = own(refusal.response) ?? response(to: refusal)
    response.closes = closesAfterResponse
    // Releasing the collector removes the parts' files.
    collector = nil
    processed?.settle(&response)
    response = marked(response)
    if isRead {
      state = .discarding(response, remaining: 0)
      return end()
    }
    if isEndKnown, let head, !head.announcesBody {
      state = .discarding(response, remaining: 0)
      return respondWithoutBody(head)
    }
    response.closes = true
    if !connection.isTLS {
      state = .responded
      isSentDirectly = true
      note(response)
      return .respondAndClose(response)
    }
    // Under TLS only libmicrohttpd can send the response. If the body has not begun, libmicrohttpd sends the response at
    // once and closes the connection. If the client is already sending, it may then lose the response because of the unread
    // bytes. So a short body is read first.
    let isShort = head?.contentLength.map { $0 - bodyBytes <= Self.maximumDiscarded } ?? false
    if isEndKnown, isBodyBegun || (isShort && head?.expectsContinue != true) {
      state = .discarding(response, remaining: Self.maximumDiscarded)
      return .proceed
    }
    state = .discarding(response, remaining: 0)
    return end()
  }

  /// Responds to a request without a body. libmicrohttpd closes the connection after a response that is queued before
  /// the request's end, even if no body follows; so the receiver waits for the end. But after `Expect: 100-continue`
  /// libmicrohttpd would ask for a body first.
  func respondWithoutBody(_ head: RequestHead) -> Step {
    head.expectsContinue ? end() : .proceed
  }

  /// Responds to an upload that has ended and was accepted.
  ///
  /// - Parameter own: the handler's response; nil if it has none.
  func respond(_ own: UploadResponse?) -> Step {
    let status = own?.status ?? 200
    makeRecord(isComplete: true, status: processed?.status(for: status) ?? status)
    // The collector's memory is not needed while the client reads the response.
    collector = nil
    let ownResponse = self.own(own)
    var response = ownResponse ?? response(status: status)
    response.closes = closesAfterResponse
    processed?.settle(&response, record: ownResponse == nil ? received?.line : nil)
    response = marked(response)
    state = .discarding(response, remaining: 0)
    return end()
  }

  /// libmicrohttpd does not show how chunks were framed: a proxy may see more body after the point where libmicrohttpd sees the
  /// end. So the bytes after this point are never read as a request.
  var closesAfterResponse: Bool { head?.framing == .chunked }

  /// The response of a handler; nil if the receiver's own response is to be sent.
  private func own(_ response: UploadResponse?) -> Response? {
    guard let response, !response.isRecord else { return nil }
    return Response(response)
  }

  /// The receiver's own response, with the record that was made.
  private func response(status: Int) -> Response {
    let accepted = (processed?.origin ?? head)?.values(of: "accept").joined(separator: ",") ?? ""
    let isForPage = accepted.utf8.firstRange(of: "text/html".utf8) != nil
    var response: Response =
      if isForPage, let form = received?.form {
        .page(UploadPage.response(parts: form.parts, failure: form.failure), status: status)
      } else {
        .json(received?.line ?? [], status: status)
      }
    response.closes = closesAfterResponse
    return response
  }

  /// Makes the record of the request. The record is made once, so that the client and the log get the same bytes.
  ///
  /// - Parameter status: the status of the response; nil if there is none.
  private func makeRecord(isComplete: Bool, status: Int?) {
    received = ReceivedRequest(
      peer: connection.peer,
      // A malformed request line may have the target in the place of the method.
      method: (processed?.origin ?? head)?.method.hidingUploadIDs ?? "-",
      target: (processed?.origin.target ?? target).hidingUploadIDs, time: time,
      framing: processed == nil ? head?.framing ?? .none : .contentLength,
      contentLength: processed?.size ?? head?.contentLength, status: status,
      form: ReceivedForm(
        bodyBytes: bodyBytes, isComplete: isComplete, parts: collector?.parts ?? [],
        failure: failure))
  }
}

extension RequestHead {
  func request(from peer: String) -> UploadRequest {
    UploadRequest(
      peer: peer, method: method, target: target, version: version, path: "/\(decodedPath)",
      headers: fields, framing: framing, contentLength: contentLength)
  }

  /// The part that stands for a body that is not a form. The path of a PUT is the file name of this part.
  var rawPart: PartDescription {
    // A path that ends in a slash names no file.
    let name = isTus ? tusFilename ?? "" : method == "PUT" && path.utf8.last != UInt8(ascii: "/") ? decodedPath : ""
    return PartDescription(
      filename: name.isEmpty ? nil : name,
      // The type is in the record.
      contentType: values(of: "content-type").first?.hidingUploadIDs)
  }
}
