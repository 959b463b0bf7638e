import FormStreamMultipart
import FormStreamPlatform

/// Requests about resumable uploads by tus 1.0.0.
extension IncomingRequest {
  /// Refuses a request with another version of tus. "The Tus-Resumable header MUST be included in every request and response except
  /// for OPTIONS requests."
  func checkTusVersion(_ head: RequestHead) throws(UploadRefusal) {
    guard head.values(of: TusProtocol.header) == [TusProtocol.version] else {
      throw .tusVersionUnknown
    }
  }

  /// The headers that tell what is supported, for `OPTIONS`.
  ///
  /// - Parameter size: the most bytes of an upload.
  func tusHeaders(of store: UploadStore, size: Int64) -> HTTPHeaders {
    var headers: HTTPHeaders = [
      "Tus-Version": TusProtocol.version, "Tus-Extension": TusProtocol.extensions,
      "Tus-Checksum-Algorithm": "\(TusProtocol.sha1),\(TusProtocol.sha256)",
    ]
    let size = min(size, store.settings.store ?? .max)
    if size < .max { headers.append("Tus-Max-Size", "\(size)") }
    return headers
  }

  /// Creates an upload, which may bring its first bytes.
  func createTusUpload(_ head: RequestHead, in store: UploadStore) throws -> Step {
    try checkTusVersion(head)
    let fields = UploadFields(head)
    let isDeferred = head.values(of: "Upload-Defer-Length") == ["1"]
    guard (fields.length != nil) != isDeferred else { throw UploadRefusal.noTusLength }
    let origin = head.tusOrigin
    let limit = try service.bodyDecoder(for: origin).limit
    _ = try AnnouncedDigest(origin)
    if let length = fields.length, length > limit { throw UploadRefusal.bodyTooLarge(limit) }
    if head.announcesBody { try checkTusPart(head) }
    try checkRoom(for: head, after: 0, of: fields.length, limit: limit)
    let upload = try store.create(
      origin: origin, length: fields.length, for: connection.network.text)
    return try removing(upload, from: store) {
      try appendTus(to: upload, head, for: .creation, at: 0, limit: limit, in: store)
    }
  }

  /// Tells how much of an upload has arrived.
  ///
  /// To the client, an upload with all its bytes is a success. So this waits for its processing. If the upload is not processed
  /// yet, because its last request broke off, the receiver was killed or there was no room, it is processed now.
  func tusProgress(
    of upload: PartialUpload, _ head: RequestHead, in store: UploadStore
  ) throws -> Step {
    let progress = try upload.progress(afterProcessing: true)
    var (isComplete, recorded) = (progress.isComplete, try upload.recorded)
    if let origin = recorded?.origin, origin.isTus, !isComplete, progress.offset == progress.length {
      if let request = try upload.begin(
        on: connection, at: progress.offset, length: nil, digests: false, checks: false)
      {
        state = .appending(
          Append(
            to: upload, in: store, request: request, for: .progress, completes: nil, limit: 0,
            offset: progress.offset, told: nil, digest: nil))
        return respondWithoutBody(head)
      }
      // Another receiver has just completed it, or was killed while it did.
      (isComplete, recorded) = (true, try upload.recorded)
    }
    if isComplete {
      guard let recorded else { throw UploadRefusal.noSuchUpload }
      if !recorded.isComplete { return respondUnknown(to: head) }
    }
    return respond(
      .tusProgress(
        offset: progress.offset, length: progress.length, of: recorded?.origin,
        secondsLeft: upload.secondsLeft), to: head)
  }

  /// Appends a part.
  func appendTus(
    to upload: PartialUpload, _ head: RequestHead, in store: UploadStore
  ) throws -> Step {
    try checkTusPart(head)
    let fields = UploadFields(head)
    guard let offset = fields.offset else {
      throw UploadRefusal.badUploadRequest(
        "The request has no valid Upload-Offset: send the number of bytes that come before this part.")
    }
    guard let recorded = try upload.recorded else { throw UploadRefusal.noSuchUpload }
    let limit = try service.bodyDecoder(for: recorded.origin).limit
    let progress = try upload.progress()
    guard progress.offset == offset else {
      throw UploadRefusal.mismatchingOffset(expected: progress.offset, provided: offset)
    }
    try checkRoom(
      for: head, after: offset, of: progress.length ?? fields.length, limit: limit)
    return try appendTus(to: upload, head, for: .part, at: offset, limit: limit, in: store)
  }

  private func appendTus(
    to upload: PartialUpload, _ head: RequestHead, for purpose: Append.Purpose, at offset: Int64,
    limit: Int64, in store: UploadStore
  ) throws -> Step {
    let origin = try upload.recorded?.origin ?? head
    let digest = try RequestDigest(tus: head)
    guard
      let request = try upload.begin(
        on: connection, at: offset, length: UploadFields(head).length,
        digests: needsDigest(origin), checks: digest != nil)
    else { return try repeatResponse(of: upload, isComplete: true, head) }
    // An upload is complete when it has as many bytes as its length.
    let append = Append(
      to: upload, in: store, request: request, for: purpose, completes: nil, limit: limit,
      offset: offset, told: nil, isURLKnown: purpose != .creation, digest: digest)
    return try begin(append, head)
  }

  private func checkTusPart(_ head: RequestHead) throws(UploadRefusal) {
    let type = head.values(of: "content-type").first ?? ""
    guard type.isSameHeaderName(as: TusProtocol.partType) else { throw .notTusPart }
  }

  /// The response to a part after which more is to come.
  func tusResponse(to append: Append, offset: Int64) -> Response {
    var headers: HTTPHeaders = [
      "Upload-Offset": "\(offset)", "Upload-Expires": httpDate(after: append.upload.secondsLeft),
    ]
    if append.purpose == .creation { headers.append("Location", append.upload.id.path) }
    return .uploads(append.purpose == .creation ? 201 : 204, headers)
  }
}
