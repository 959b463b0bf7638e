package import FormStreamMultipart

/// The headers of an upload that can go on: of draft-ietf-httpbis-resumable-upload, interop version 8, and of tus 1.0.
extension HTTPHeaders {
  /// These headers, and the offer to the server to keep what arrives.
  ///
  /// "The client can invite the server to upgrade such a request to a resumable upload by adding the `Upload-Complete: ?1`
  /// header field to the original request. The `Upload-Length` header field SHOULD be added".
  func offeringUpload(of length: Int64?) -> HTTPHeaders {
    var sent = self
    sent.append("Upload-Draft-Interop-Version", UploadNotes.interopVersion)
    sent.append("Upload-Complete", "?1")
    if let length { sent.append("Upload-Length", "\(length)") }
    return sent
  }

  /// These headers for a request without a body that creates an upload.
  ///
  /// - Parameter metadata: the value of `Upload-Metadata`, for tus.
  func creatingUpload(
    of length: Int64?, by uploadProtocol: UploadProtocol, metadata: @autoclosure () -> String?
  ) -> HTTPHeaders {
    switch uploadProtocol {
    case .http:
      // RFC 9530 §2 and §3: the digest of a representation that is sent in several requests has another name than that of the
      // bytes of one request.
      var sent = HTTPHeaders()
      for field in fields {
        if field.name.isSameHeaderName(as: "Content-Digest") {
          sent.append("Repr-Digest", field.value)
        } else {
          sent.append(field)
        }
      }
      sent.append("Upload-Draft-Interop-Version", UploadNotes.interopVersion)
      sent.append("Upload-Complete", "?0")
      if let length { sent.append("Upload-Length", "\(length)") }
      return sent
    case .tus:
      var sent = withoutContent
      sent.append(keyOf: self)
      sent.append("Tus-Resumable", Tus.version)
      if let length { sent.append("Upload-Length", "\(length)") }
      if !contains("Upload-Metadata"), let metadata = metadata() {
        sent.append("Upload-Metadata", metadata)
      }
      return sent
    }
  }

  /// The headers of the question what an upload may be like. A server may have other limits for a form than for a file, and knows a form
  /// by its type.
  var askingForLimits: HTTPHeaders {
    var sent = withoutContent
    for field in fields
    where field.name.isSameHeaderName(as: "Content-Type") && field.value.lowercased().hasPrefix("multipart/") {
      sent.append(field)
    }
    return sent
  }

  /// The headers of the question for the offset.
  func askingForOffset(by uploadProtocol: UploadProtocol) -> HTTPHeaders {
    var sent = aboutUpload
    switch uploadProtocol {
    case .http: sent.append("Upload-Draft-Interop-Version", UploadNotes.interopVersion)
    case .tus: sent.append("Tus-Resumable", Tus.version)
    }
    return sent
  }

  /// The headers of a piece of an upload.
  ///
  /// - Parameters:
  ///   - isLast: whether the upload ends with it.
  ///   - length: the length of the upload, if the server must be told; nil otherwise.
  func appending(
    from offset: Int64, isLast: Bool, by uploadProtocol: UploadProtocol, telling length: Int64?
  ) -> HTTPHeaders {
    var sent = askingForOffset(by: uploadProtocol)
    sent.append(keyOf: self)
    sent.append("Upload-Offset", "\(offset)")
    if let length { sent.append("Upload-Length", "\(length)") }
    switch uploadProtocol {
    case .http:
      sent.append("Content-Type", "application/partial-upload")
      sent.append("Upload-Complete", isLast ? "?1" : "?0")
    case .tus: sent.append("Content-Type", Tus.partType)
    }
    return sent
  }

  /// Adds the idempotency key: a server may carry out the request by any request that creates an upload or sends a piece of it.
  private mutating func append(keyOf headers: HTTPHeaders) {
    for field in headers.fields where field.name.isSameHeaderName(as: "Idempotency-Key") { append(field) }
  }

  /// The headers that are not about the request's own resource: without those that describe its content, and without
  /// conditions, which would be checked against the unfinished upload (RFC 9110 §13).
  private var aboutUpload: HTTPHeaders {
    var rest = HTTPHeaders()
    for field in withoutContent.fields
    where !field.name.lowercased().hasPrefix("if-")
      && !field.name.isSameHeaderName(as: "Upload-Metadata")
    {
      rest.append(field)
    }
    return rest
  }

  /// What an upload sends by itself whose first request has no body: the headers of that request, and of a piece. Nil if the
  /// first request has the body.
  package static func ofUpload(
    _ request: TransferRequest, _ body: BodyLayout
  ) -> (method: HTTPMethod, first: HTTPHeaders, piece: HTTPHeaders)? {
    let resumption = request.options.resumption
    guard resumption.isCreatedFirst, let length = body.contentLength, length > 0 else { return nil }
    let way = resumption.isTus ? UploadProtocol.tus : .http
    let piece = HTTPHeaders().appending(from: 0, isLast: true, by: way, telling: nil)
    if way == .tus, request.method == .put { return (.head, HTTPHeaders().askingForOffset(by: way), piece) }
    let metadata = request.headers.contains("Upload-Metadata") ? nil : Tus.metadata(of: body, resumption.metadata)
    return (request.method, HTTPHeaders().creatingUpload(of: length, by: way, metadata: metadata), piece)
  }

  /// What the request itself has to offer the server to keep what arrives; nil if it offers nothing.
  package static func ofOffer(_ request: TransferRequest, _ body: BodyLayout) -> HTTPHeaders? {
    let resumption = request.options.resumption
    guard resumption.isChosen, !resumption.isCreatedFirst, body.isReplayable, let length = body.contentLength,
      length > 0 || resumption.isAutomatic && !resumption.metadata.isEmpty
    else { return nil }
    return HTTPHeaders().offeringUpload(of: length)
  }

  /// The headers that an upload that can go on sends itself.
  static let ofUploads = [
    "Upload-Draft-Interop-Version", "Upload-Complete", "Upload-Length", "Upload-Offset",
    "Upload-Defer-Length", "Tus-Resumable",
  ]
}
