import FormStreamMultipart
import FormStreamRecords

/// What all requests of a receiver have in common.
final class Service: Sendable {
  let configuration: Receiver.Configuration
  let handler: any UploadHandler
  let onRequest: @Sendable (ReceivedRequest) -> Void
  private let access: Access
  private let stopping = Guarded(false)

  init(
    _ configuration: Receiver.Configuration, handler: any UploadHandler,
    onRequest: @escaping @Sendable (ReceivedRequest) -> Void
  ) {
    self.configuration = configuration
    self.handler = handler
    self.onRequest = onRequest
    access = Access(configuration)
  }

  var intakeOptions: PartCollector.Options {
    var options = PartCollector.Options()
    options.textField = configuration.limits.textField
    options.allTextFields = configuration.limits.allTextFields
    options.makesDigests = configuration.makesDigests
    return options
  }

  /// From now on no request is begun.
  func stop() {
    stopping.withLock { $0 = true }
  }

  /// Why a request is not taken, before its body is looked at.
  func refusal(of head: RequestHead) -> UploadRefusal? {
    if stopping.withLock({ $0 }) {
      return UploadRefusal(
        .stopping, status: 503, "The receiver is being stopped: try again later, or another.")
    }
    if let refusal = access.refusal(of: head) { return refusal }
    guard head.isUpload else { return nil }
    if head.framing == .none {
      return UploadRefusal(
        .lengthRequired, status: 411,
        "The request has neither Content-Length nor Transfer-Encoding: send one, also for a body of 0 bytes."
      )
    }
    let codings = head.values(of: "content-encoding").filter { $0.lowercased() != "identity" }
    guard codings.isEmpty else {
      return UploadRefusal(
        .encodingUnsupported, status: 415,
        "The Content-Encoding \(codings.joined(separator: ", ").quoted) is not taken: send the body as it is."
      )
    }
    return nil
  }

  /// What is answered to a request that uploads nothing.
  func page(for head: RequestHead) throws(UploadRefusal) -> Answer {
    guard head.method == "GET" || head.method == "HEAD" else {
      throw UploadRefusal(
        .methodNotAllowed, status: 405,
        "\(head.method.quoted) is not taken: upload by POST or PUT.")
    }
    guard !head.announcesBody else {
      throw UploadRefusal(
        .badRequest, status: 400, "A \(head.method) has no body here: upload by POST or PUT.")
    }
    guard head.path == "/", configuration.servesPage else {
      throw UploadRefusal(
        .notFound, status: 404,
        "There is nothing at \(String(head.path).quoted): upload by POST or PUT.")
    }
    return .page(UploadPage.html)
  }
}

extension Service {
  /// An answer as it goes over the wire past libmicrohttpd.
  func bytes(of answer: Answer, hasBody: Bool = true) -> [UInt8] {
    answer.bytes(reason: reasonPhrase(for: answer.status), date: httpDate(), hasBody: hasBody)
  }

  /// What a client is told whose request is cut off from outside.
  func bytes(of refusal: UploadRefusal, to request: Connection.Request) -> [UInt8] {
    let record = ReceivedRecord(
      body: ParsedRecord(
        bodyBytes: request.bodyBytes, isComplete: false, parts: [], error: RecordFailure(refusal)),
      framing: request.framing.rawValue, contentLength: request.contentLength)
    return bytes(of: .record(record, status: refusal.status, asPage: false))
  }
}
