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
  func tusHeaders(of store: UploadStore) -> HTTPHeaders {
    var headers: HTTPHeaders = [
      "Tus-Version": TusProtocol.version, "Tus-Extension": TusProtocol.extensions,
    ]
    let size = min(service.configuration.limits.body ?? .max, store.settings.store ?? .max)
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
    if let length = fields.length, length > limit { throw UploadRefusal.bodyTooLarge(limit) }
    if head.announcesBody { try checkTusPart(head) }
    if let content = head.contentLength, let length = fields.length, content > length {
      throw UploadRefusal.inconsistentLength
    }
    let upload = try store.create(origin: origin, length: fields.length)
    return try appendTus(to: upload, head, isCreation: true, at: nil, limit: limit, in: store)
  }

  /// Tells how much of an upload has arrived.
  func tusProgress(of upload: PartialUpload, in store: UploadStore) throws -> Response {
    let progress = try upload.progress()
    var headers: HTTPHeaders = ["Upload-Offset": "\(progress.offset)"]
    if let length = progress.length {
      headers.append("Upload-Length", "\(length)")
    } else {
      headers.append("Upload-Defer-Length", "1")
    }
    for value in upload.recorded?.origin.values(of: "Upload-Metadata") ?? [] {
      headers.append("Upload-Metadata", value)
    }
    headers.append("Upload-Expires", httpDate(after: upload.secondsLeft))
    return .uploads(200, headers)
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
    guard let recorded = upload.recorded else { throw UploadRefusal.noSuchUpload }
    let limit = try service.bodyDecoder(for: recorded.origin).limit
    let progress = try upload.progress()
    guard progress.offset == offset else {
      throw UploadRefusal.mismatchingOffset(expected: progress.offset, provided: offset)
    }
    let known = progress.length ?? fields.length
    if let known, let content = head.contentLength, content > known - offset {
      throw UploadRefusal.inconsistentLength
    }
    return try appendTus(to: upload, head, isCreation: false, at: offset, limit: limit, in: store)
  }

  private func appendTus(
    to upload: PartialUpload, _ head: RequestHead, isCreation: Bool, at offset: Int64?,
    limit: Int64, in store: UploadStore
  ) throws -> Step {
    let origin = upload.recorded?.origin ?? head
    guard
      let request = try upload.begin(
        on: connection, at: offset, length: UploadFields(head).length,
        digests: needsDigest(origin))
    else { return try repeatResponse(of: upload, isComplete: true, head) }
    // An upload is complete when it has as many bytes as its length.
    let append = try Append(
      to: upload, in: store, request: request, isCreation: isCreation, completes: nil, limit: limit,
      offset: offset ?? 0, told: nil, announced: nil)
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
    if append.isCreation { headers.append("Location", append.upload.id.path) }
    return .uploads(append.isCreation ? 201 : 204, headers)
  }
}
