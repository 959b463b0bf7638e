import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform

/// The state that all requests of a receiver share: its configuration, its handler, and the checks that need no body.
final class Service: Sendable {
  let configuration: Receiver.Configuration
  let handler: any UploadHandler
  let onRequest: @Sendable (ReceivedRequest) -> Void
  let onHead: @Sendable (UploadRequest) -> Void
  /// The page for uploads.
  private let page: Response
  /// The same page for clients that must not see whose machine this is.
  private let pageWithoutOwner: Response
  /// The memory that the records of all requests share.
  let memory: MemoryBudget
  /// The resumable uploads; nil if no upload is resumable.
  let uploads: UploadStore?
  private let access: AccessControl
  private let stopping = Guarded(false)

  init(
    _ configuration: Receiver.Configuration, handler: any UploadHandler,
    onRequest: @escaping @Sendable (ReceivedRequest) -> Void,
    onHead: @escaping @Sendable (UploadRequest) -> Void
  ) throws(ReceiverError) {
    uploads = try configuration.resumableUploads.map { (settings) throws(ReceiverError) in
      try UploadStore(settings.bounded)
    }
    self.configuration = configuration
    self.handler = handler
    self.onRequest = onRequest
    self.onHead = onHead
    page = .page(UploadPage.html(for: configuration))
    var nameless = configuration
    nameless.page.owner = nil
    pageWithoutOwner = .page(UploadPage.html(for: nameless))
    memory = MemoryBudget(configuration.limits.allRecords)
    access = AccessControl(configuration)
  }

  /// - Parameter reserve: called with the memory that each part takes.
  func collectorOptions(
    reserving reserve: @escaping (Int) throws -> Void
  ) -> PartCollector.Options {
    var options = PartCollector.Options()
    options.reserve = reserve
    options.textField = configuration.limits.textField
    options.allTextFields = configuration.limits.allTextFields
    options.makesDigests = configuration.makesDigests
    return options
  }

  /// How many descriptors a connection and its upload may use: for the socket, and a file that is stored. A complete upload that is
  /// resumable is read from one more. (Its state is written to another, which is closed at once.)
  var descriptorsOfConnection: Int { uploads == nil ? 2 : 3 }

  /// Refuses all requests from now on.
  func stop() {
    stopping.withLock { $0 = true }
    uploads?.stop()
  }

  /// Releases what the receiver holds. No request must be left.
  func close() { uploads?.close() }

  /// Whether all requests are refused from now on.
  var isStopping: Bool { stopping.withLock(\.self) }

  /// Why a request is refused before its body is read; nil if it is not refused.
  func refusal(of head: RequestHead) -> UploadRefusal? {
    if isStopping { return .receiverStops }
    if let refusal = access.refusal(of: head) { return refusal }
    guard head.mayChangeSomething else { return nil }
    if let refusal = partRefusal(of: head)
      ?? head.conditionRefusal(supportsIfNoneMatch: handler.supportsIfNoneMatch)
    {
      return refusal
    }
    if head.isUpload, head.framing == .none {
      return UploadRefusal(
        .lengthRequired, status: 411,
        "The request has neither Content-Length nor Transfer-Encoding: send one, even for an empty body."
      )
    }
    let codings = head.values(of: "content-encoding").filter {
      !$0.isSameHeaderName(as: "identity")
    }
    guard codings.isEmpty else {
      return UploadRefusal(
        .encodingUnsupported, status: 415,
        "The Content-Encoding \(codings.joined(separator: ", ").quoted) is not supported: send the body without one."
      )
    }
    return nil
  }

  /// Why the body is refused as a part of something; nil if it is complete, or a part of a resumable upload.
  private func partRefusal(of head: RequestHead) -> UploadRefusal? {
    guard !head.isUpload || uploads != nil && UploadOperation(head) != nil else {
      return head.partRefusal
    }
    return head.values(of: "Content-Range").isEmpty ? nil : .partialUpload("Content-Range")
  }

  /// What decodes the body of a request with this head, and the most bytes that the body may have.
  ///
  /// - Throws: ``MultipartError`` if the type is a multipart type without a valid boundary.
  func bodyDecoder(
    for head: RequestHead
  ) throws(MultipartError) -> (decoder: BodyDecoder, limit: Int64) {
    let limits = configuration.limits
    let decoder = try BodyDecoder(
      contentType: head.values(of: "content-type").first, isPut: head.method == "PUT" || head.isTus,
      escaping: configuration.escaping, limits: limits.form)
    let limit = limits.body ?? .max
    return switch decoder {
    case .form: (decoder, limit)
    case .fields: (decoder, min(limit, limits.urlEncodedBody))
    case .raw: (decoder, min(limit, limits.form.partBytes ?? .max))
    }
  }

  /// The response to a request that uploads nothing.
  func page(for head: RequestHead, _ request: UploadRequest) throws -> Response {
    guard head.method == "GET" || head.method == "HEAD" else {
      throw UploadRefusal(
        .methodNotAllowed, status: 405,
        "The method \(head.method.quoted) is not supported: upload by POST or PUT.")
    }
    guard !head.announcesBody else {
      throw UploadRefusal(
        .badRequest, status: 400,
        "A \(head.method) request must not have a body here: upload by POST or PUT.")
    }
    if let response = try ownResponse(to: head, request) { return response }
    guard head.path.utf8.elementsEqual("/".utf8), configuration.servesPage else {
      throw UploadRefusal(
        .notFound, status: 404,
        "There is nothing at \(String(head.path).quoted): upload by POST or PUT.")
    }
    return switch try access.pageAccess(head) {
    case .complete: page
    case .withoutOwner: pageWithoutOwner
    }
  }

  /// The program's response to a GET; nil if it has none.
  private func ownResponse(to head: RequestHead, _ request: UploadRequest) throws -> Response? {
    guard let respond = configuration.respondToGet else { return nil }
    _ = try access.pageAccess(head)
    do {
      guard let response = try respond(request), !response.isRecord else { return nil }
      return Response(response)
    } catch let refusal as UploadRefusal {
      throw refusal
    } catch {
      throw GetFailure(cause: error)
    }
  }
}

extension Service {
  /// The response that a client on an idle connection gets when the receiver stops: the client's next request may be on its
  /// way.
  var lastResponse: [UInt8] {
    let refusal = UploadRefusal.receiverStops
    return bytes(of: .text(refusal.description, for: refusal))
  }

  /// The bytes of an interim response: draft-ietf-httpbis-resumable-upload §5.
  static func interimResponse(_ headers: HTTPHeaders) -> [UInt8] {
    var head =
      "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: \(UploadFields.version)\r\n"
    for header in headers { head += "\(header.name): \(header.value)\r\n" }
    return Array("\(head)\r\n".utf8)
  }

  /// The bytes of a response that is sent without libmicrohttpd.
  func bytes(of response: Response, hasBody: Bool = true) -> [UInt8] {
    response.bytes(reason: reasonPhrase(for: response.status), date: httpDate(), hasBody: hasBody)
  }
}
