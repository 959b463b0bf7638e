import FormStreamDigest
import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform

/// Requests about resumable uploads: draft-ietf-httpbis-resumable-upload, interop version 8.
extension IncomingRequest {
  /// Handles the head of a request that doesn't create an upload.
  func begin(
    _ operation: UploadOperation, _ head: RequestHead, in store: UploadStore
  ) throws -> Step? {
    switch operation {
    case .create: return nil
    case .createByTus: return try createTusUpload(head, in: store)
    case .announceLimits:
      try refuseBody(head)
      // Whoever doesn't name the type of a form asks for a file.
      let size = try service.bodyDecoder(for: head).limit
      return respondToOptions(
        head, "GET, HEAD, OPTIONS, POST, PUT", limits: store.limits(size: size), size: size, in: store)
    case .use(let id):
      guard let upload = try id.flatMap({ try store.upload($0) }) else {
        try refuseBody(head)
        throw UploadRefusal.noSuchUpload
      }
      return try begin(upload, head, in: store)
    }
  }

  private func respondToOptions(
    _ head: RequestHead, _ methods: String, limits: String, size: Int64, in store: UploadStore
  ) -> Step {
    var headers: HTTPHeaders = ["Upload-Limit": limits, "Allow": methods]
    for header in tusHeaders(of: store, size: size) { headers.append(header) }
    return respond(.uploads(204, headers), to: head)
  }

  private func refuseBody(_ head: RequestHead) throws(UploadRefusal) {
    // A POST or PUT that means no other method is refused for its method.
    let method = head.tusMethod
    guard !head.announcesBody || ["PATCH", "POST", "PUT"].contains(method) else {
      throw .badUploadRequest("A \(method) request must not have a body here: send none.")
    }
  }

  private func begin(
    _ upload: PartialUpload, _ head: RequestHead, in store: UploadStore
  ) throws -> Step {
    try refuseBody(head)
    let method = head.tusMethod
    if head.isTus, method != "OPTIONS" { try checkTusVersion(head) }
    switch method {
    case "HEAD" where head.isTus: return try tusProgress(of: upload, head, in: store)
    case "HEAD", "GET":
      if method == "GET", let record = try upload.recorded?.record {
        // The header of a response to an upload by tus has no room for a large record.
        var response = Response.json(record, status: 200)
        response.headers.append("Upload-Complete", "?1")
        return respond(response, to: head)
      }
      let progress = try upload.progress()
      var headers: HTTPHeaders = [
        "Upload-Offset": "\(progress.offset)",
        "Upload-Complete": progress.isComplete ? "?1" : "?0",
        "Upload-Limit": limits(of: upload, in: store),
      ]
      if let length = progress.length { headers.append("Upload-Length", "\(length)") }
      return respond(.uploads(204, headers), to: head)
    case "DELETE":
      try upload.cancel()
      return respond(.uploads(204, [:]), to: head)
    case "OPTIONS":
      return respondToOptions(
        head, "DELETE, GET, HEAD, OPTIONS, PATCH", limits: limits(of: upload, in: store),
        size: size(of: upload), in: store)
    case "PATCH":
      return try head.isTus
        ? appendTus(to: upload, head, in: store) : append(to: upload, head, in: store)
    default: throw UploadRefusal.methodNotAllowedForUpload(method)
    }
  }

  private func limits(of upload: PartialUpload, in store: UploadStore) -> String {
    store.limits(size: size(of: upload), age: upload.secondsLeft)
  }

  /// The most bytes that the upload may have.
  private func size(of upload: PartialUpload) -> Int64 {
    let origin = try? upload.recorded?.origin
    return origin.flatMap { try? service.bodyDecoder(for: $0).limit } ?? .max
  }

  /// The response, with the version of tus if the client speaks tus.
  func marked(_ response: Response) -> Response {
    guard service.uploads != nil, head?.isTus == true else { return response }
    var response = response
    response.headers.append(TusProtocol.header, TusProtocol.version)
    return response
  }

  /// Sends a response that doesn't come from processing an upload. There is no record of the request.
  func respond(_ response: Response, to head: RequestHead) -> Step {
    isRecorded = false
    state = .discarding(marked(response), remaining: 0)
    return respondWithoutBody(head)
  }
}

// MARK: Creating and appending

extension IncomingRequest {
  /// Creates an upload for a request, if the request wants that and can have it. Returns nil if the request is an ordinary
  /// upload: if the body is short, or the client can't be told the upload's URL before the body.
  ///
  /// - Parameter limit: the most bytes of the body.
  func createUpload(
    _ fields: UploadFields, _ head: RequestHead, limit: Int64, in store: UploadStore
  ) throws -> Step? {
    let isWhole = fields.isComplete == true
    let length = try fields.length(of: head, at: 0)
    if let length, length > limit { throw UploadRefusal.bodyTooLarge(limit) }
    let isTellable = !connection.isTLS && head.version == "HTTP/1.1"
    if isWhole {
      guard isTellable, length ?? .max >= store.settings.minimumSize else { return nil }
    }
    if head.request(from: connection.peer).mustBeNew { try checkIsNew(head) }
    // The digest of a part says nothing about the complete upload.
    let origin = isWhole ? head : head.without(AnnouncedDigest.contentHeader)
    _ = try AnnouncedDigest(origin)
    let upload: PartialUpload
    do {
      upload = try store.create(
        origin: origin, length: length, for: connection.network.text)
    } catch {
      // Without room or locks for an upload that can be resumed, an ordinary one may still be possible.
      if isWhole { return nil }
      throw error
    }
    return try removing(upload, from: store) {
      var isTold = false
      if isTellable, head.announcesBody {
        isTold = connection.sendInterim(
          Service.interimResponse([
            "Location": upload.id.path, "Upload-Limit": store.limits(size: limit),
          ]))
        if !isTold, isWhole {
          store.remove(upload)
          return nil
        }
      }
      let digest = isWhole ? nil : try RequestDigest(contentOf: head)
      guard
        let request = try upload.begin(
          on: connection, at: nil, length: length, digests: needsDigest(head),
          checks: digest != nil)
      else { return nil }
      let append = Append(
        to: upload, in: store, request: request, for: .creation, completes: isWhole, limit: limit,
        offset: 0, told: isTellable ? connection : nil, isURLKnown: isTold, digest: digest)
      return try begin(append, head)
    }
  }

  /// Calls `body` with a new upload. If the creating request is refused, there is no upload.
  func removing<Result>(
    _ upload: PartialUpload, from store: UploadStore, _ body: () throws -> Result
  ) rethrows -> Result {
    do {
      return try body()
    } catch {
      store.remove(upload)
      throw error
    }
  }

  /// Refuses an upload whose name is taken before its body arrives, as for an ordinary upload. The handler checks the name again
  /// when the upload is complete.
  private func checkIsNew(_ head: RequestHead) throws {
    var request = head.request(from: connection.peer)
    // Nothing is to be reserved: this upload is dropped.
    request.hasArrived = true
    _ = try service.handler.begin(request).begin(head.rawPart)
  }

  private func append(
    to upload: PartialUpload, _ head: RequestHead, in store: UploadStore
  ) throws -> Step {
    let fields = UploadFields(head)
    let type = head.values(of: "content-type").first?.utf8.prefix { $0 != UInt8(ascii: ";") }
    guard
      let type, String(Substring(type)).trimmingBlanks().isSameHeaderName(as: "application/partial-upload")
    else { throw UploadRefusal.notPartialUpload }
    guard let isComplete = fields.isComplete else {
      throw UploadRefusal.badUploadRequest(
        "The request has no valid Upload-Complete: send ?1 with the last part, and ?0 with any other.")
    }
    guard let offset = fields.offset else {
      throw UploadRefusal.badUploadRequest(
        "The request has no valid Upload-Offset: send the number of bytes that come before this part.")
    }
    guard let recorded = try upload.recorded else { throw UploadRefusal.noSuchUpload }
    let limit = try service.bodyDecoder(for: recorded.origin).limit
    // The offset is checked first: a client that is wrong about it is told the right one, whatever else it says.
    let progress = try upload.progress()
    guard progress.offset == offset else {
      throw UploadRefusal.mismatchingOffset(expected: progress.offset, provided: offset)
    }
    let length = try fields.length(of: head, at: offset)
    if !progress.isComplete {
      try checkRoom(for: head, after: offset, of: progress.length ?? length, limit: limit)
    }
    let digest = try RequestDigest(contentOf: head)
    guard
      let request = try upload.begin(
        on: connection, at: offset, length: length, digests: needsDigest(recorded.origin),
        checks: digest != nil)
    else { return try repeatResponse(of: upload, isComplete: isComplete, head) }
    let isTellable = fields.isVersionKnown && !connection.isTLS && head.version == "HTTP/1.1"
    let append = Append(
      to: upload, in: store, request: request, for: .part, completes: isComplete, limit: limit,
      offset: offset, told: isTellable ? connection : nil, digest: digest)
    return try begin(append, head)
  }

  /// Refuses a body that announces that it is too long, or the announced length of an upload, before it can end the upload.
  ///
  /// - Parameters:
  ///   - offset: where the body begins.
  ///   - length: the length of the complete upload; nil if it is not known.
  ///   - limit: the most bytes of an upload.
  func checkRoom(
    for head: RequestHead, after offset: Int64, of length: Int64?, limit: Int64
  ) throws(UploadRefusal) {
    if let length, length > limit { throw .bodyTooLarge(limit) }
    guard let content = head.contentLength, content > (length ?? limit) - offset else { return }
    throw length == nil ? .bodyTooLarge(limit) : .inconsistentLength
  }

  func begin(_ append: Append, _ head: RequestHead) throws -> Step {
    if let length = head.contentLength, length > 0 { try append.reserve(length) }
    state = .appending(append)
    return .proceed
  }

  /// Sends the response to a complete upload again, because the client has not received it.
  func repeatResponse(
    of upload: PartialUpload, isComplete: Bool, _ head: RequestHead
  ) throws -> Step {
    guard isComplete, !head.announcesBody else {
      throw UploadRefusal.badUploadRequest(
        "The upload is complete, so nothing can be appended: send an empty part with Upload-Complete: ?1 for the response.")
    }
    guard let recorded = try upload.recorded else { throw UploadRefusal.noSuchUpload }
    switch recorded.phase {
    case .complete(let response): return respond(response, to: head)
    case .processing: return respondUnknown(to: head)
    case .open: throw UploadRefusal.noSuchUpload
    }
  }

  /// Says that nobody knows whether the complete upload was stored.
  func respondUnknown(to head: RequestHead) -> Step {
    var response = Response.text(UploadRefusal.outcomeUnknown.description, for: .outcomeUnknown)
    response.headers.append("Upload-Complete", "?1")
    return respond(response, to: head)
  }

  /// Whether the digest of a complete body will be needed.
  func needsDigest(_ origin: RequestHead) -> Bool {
    if (try? AnnouncedDigest(origin)) != nil { return true }
    guard service.configuration.makesDigests, case .raw? = try? service.bodyDecoder(for: origin).decoder
    else { return false }
    return true
  }
}

// MARK: The body

extension IncomingRequest {
  /// Handles the next bytes of an upload.
  func append(_ bytes: UnsafeRawBufferPointer, by append: Append) -> Step {
    do {
      let isOwner = try append.receive(bytes)
      bodyBytes += Int64(bytes.count)
      return isOwner ? .proceed : .close
    } catch {
      return refuse(refusal(of: error, isKept: append.keptOffset != nil), cause: error)
    }
  }

  /// An error of the system as one of storing.
  private func stored(_ error: any Error, isKept: Bool) -> any Error {
    guard let cause = error as? SystemError, let store = service.uploads else { return error }
    return StorageError.notAppended(in: store.settings.directory, cause, isKept: isKept)
  }

  /// A refusal of a part says that the upload is not complete.
  ///
  /// - Parameter isKept: whether the client can go on with what had arrived before. If the request was to create the upload, there is
  ///   no upload.
  func refusal(of error: any Error, isKept: Bool) -> UploadRefusal {
    let error = stored(error, isKept: isKept)
    let refusal = UploadRefusal(error, remains: StorageError.remains(isKept: isKept))
    guard refusal.response == nil else { return refusal }
    return UploadRefusal(refusal.code, status: refusal.status, refusal.description, problem: nil)
  }

  /// Handles the end of a part's body.
  func endAppending(_ append: Append) -> Step {
    do {
      switch try append.end() {
      case .superseded: return .close
      case .part(let offset):
        var headers: HTTPHeaders = [
          "Upload-Complete": "?0", "Upload-Offset": "\(offset)",
          "Upload-Limit": limits(of: append.upload, in: append.store),
        ]
        let isCreation = append.purpose == .creation
        if isCreation { headers.append("Location", append.upload.id.path) }
        var response =
          head?.isTus == true
          ? tusResponse(to: append, offset: offset)
          : .uploads(isCreation ? 201 : 204, headers)
        response.closes = closesAfterResponse
        isRecorded = false
        state = .discarding(marked(response), remaining: 0)
        return end()
      case .whole(let whole):
        return process(append.upload, whole, for: append.purpose)
      }
    } catch {
      return refuse(
        refusal(of: error, isKept: append.keptOffset != nil), cause: error, isRead: true)
    }
  }

  /// Processes a complete upload, as if its body had come in one request.
  private func process(
    _ upload: PartialUpload, _ whole: PartialUpload.Whole, for purpose: Append.Purpose
  ) -> Step {
    guard let last = head else { return .close }
    let origin = whole.recorded.completeHead(from: last)
    let processed = ProcessedUpload(upload, whole, origin, for: purpose)
    self.processed = processed
    bodyBytes = whole.size
    do {
      let (decoder, _) = try service.bodyDecoder(for: origin)
      let collector = PartCollector(
        try service.handler.begin(processed.request(from: connection.peer)),
        options: service.collectorOptions(reserving: memory.grow(by:)))
      self.collector = collector
      let announced = try AnnouncedDigest(origin)
      let body = WholeBody(whole)
      var movesFile = false
      if case .raw = decoder {
        try collector.begin(origin.rawPart, isText: false)
        let isHashed = service.configuration.makesDigests || announced != nil
        let digest = isHashed ? try body.digest() : nil
        if let digest { try announced?.check(digest) }
        let recorded = service.configuration.makesDigests ? digest : nil
        movesFile = try collector.adopt(whole.file, sha256: recorded)
        if !movesFile {
          try body.forEachPiece { try collector.write($0) }
        }
      } else {
        if let announced, let digest = try body.digest() { try announced.check(digest) }
        try body.forEachPiece { try decoder.decode($0, into: collector) }
      }
      try decoder.end(collector)
      try processed.noteStoring(movesFile: movesFile)
      return respond(try collector.end { upload, parts in try upload.endAndRespond(parts) })
    } catch {
      return refuse(refusal(of: error, by: processed), cause: error, isRead: true)
    }
  }

  /// The refusal of a complete upload. It says if the upload can be completed later.
  private func refusal(of error: any Error, by processed: ProcessedUpload) -> UploadRefusal {
    let refusal = UploadRefusal(stored(error, isKept: false))
    guard processed.canBeCompleted(after: refusal.status) else { return refusal }
    return UploadRefusal(stored(error, isKept: true), remains: StorageError.remains(isKept: true))
  }
}
