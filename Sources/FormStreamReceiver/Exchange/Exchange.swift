import FormStreamMultipart
import FormStreamRecords

/// One request: whether it is taken, what is made of its body, and what is answered.
///
/// It is called on its connection's thread only.
final class Exchange {
  /// What is to be done on the connection.
  enum Step {
    /// Wait for what comes next.
    case goOn
    /// Answer in order; all that will be read of the request was read, but where the answer closes.
    case answer(Answer)
    /// Answer in the midst of the body, past libmicrohttpd, and close.
    case cut(Answer)
    /// Close at once.
    case close
  }

  private enum State {
    /// Nothing was decided.
    case head
    /// A body is taken in.
    case body(BodyDecoder, PartCollector)
    /// Nothing is made of what still comes, up to so many bytes; then the answer.
    case discarding(Answer, left: Int64)
    case answered
  }

  /// How much of a body is read that nobody wants, where the answer can't be sent before.
  private static let maximumDiscarded: Int64 = 1024 * 1024

  private let service: Service
  let connection: Connection
  /// As it was sent.
  let target: String
  /// Its bytes, before what was not UTF-8 was repaired.
  let targetSize: Int
  private let began = ContinuousClock.now
  private var head: RequestHead?
  private var state = State.head
  private var isBodyBegun = false
  private var bodyBytes: Int64 = 0
  private var bodyLimit = Int64.max
  private var intake: PartCollector?
  private var failure: RecordFailure?
  private var cause: (any Error)?
  /// What was answered, as far as that is known.
  private var told: ReceivedRecord?
  private var status: Int?
  private var duration: Duration?
  /// Whether it was answered past libmicrohttpd.
  private var isCutShort = false

  init(_ service: Service, on connection: Connection, target: String, targetSize: Int) {
    self.service = service
    self.connection = connection
    self.target = target
    self.targetSize = targetSize
  }

  /// Whether its head has not come.
  var isNew: Bool { head == nil }

  /// Whether an answer may have a body.
  var wantsBody: Bool { head?.method != "HEAD" }

  /// The head came.
  func begin(_ head: RequestHead) -> Step {
    self.head = head
    connection.beginBody(head.framing, length: head.contentLength)
    guard connection.beginHandling(0) else { return .close }
    defer { connection.endHandling() }
    do {
      let limits = service.configuration.limits
      if let refusal = head.refusal(limit: limits.head) { return refuse(refusal, isCertain: false) }
      if let refusal = service.refusal(of: head) { throw refusal }
      guard head.isUpload else {
        state = .discarding(try service.page(for: head), left: 0)
        return answerWithoutBody(head)
      }
      bodyLimit = limits.body ?? .max
      if head.contentLength ?? 0 > bodyLimit { throw tooLarge(bodyLimit) }
      let reading = try BodyDecoder(
        contentType: head.values(of: "content-type").first, isPut: head.method == "PUT",
        escaping: service.configuration.escaping, limits: limits.form)
      let intake = PartCollector(
        try service.handler.begin(head.upload(from: connection.peer)),
        options: service.intakeOptions)
      self.intake = intake
      if case .raw = reading {
        bodyLimit = min(bodyLimit, limits.form.partBytes ?? .max)
        try intake.begin(head.rawPart, isText: false)
      }
      state = .body(reading, intake)
      return .goOn
    } catch {
      // Who sends no length may yet send a body: what follows is no request for certain.
      let refusal = UploadRefusal(error)
      return refuse(refusal, cause: error, isCertain: refusal.code != .lengthRequired)
    }
  }

  /// Some of the body came.
  func take(_ bytes: UnsafeRawBufferPointer) -> Step {
    guard connection.beginHandling(bytes.count) else { return .close }
    defer { connection.endHandling() }
    isBodyBegun = true
    switch state {
    case .body(let reading, let intake):
      do {
        guard bodyLimit - bodyBytes >= bytes.count else { throw tooLarge(bodyLimit) }
        bodyBytes += Int64(bytes.count)
        try take(bytes, as: reading, into: intake)
        return .goOn
      } catch {
        return refuse(UploadRefusal(error), cause: error)
      }
    case .discarding(let answer, let left):
      let left = left - Int64(bytes.count)
      guard left >= 0 else { return .close }
      state = .discarding(answer, left: left)
      return .goOn
    case .head, .answered:
      return .close
    }
  }

  /// The request is whole.
  func end() -> Step {
    switch state {
    case .body(let reading, let intake):
      guard connection.beginHandling(0) else { return .close }
      defer { connection.endHandling() }
      do {
        try end(reading, into: intake)
        try intake.end()
        return answer(record(isComplete: true), status: 200)
      } catch {
        return refuse(UploadRefusal(error), cause: error, isRead: true)
      }
    case .discarding(let answer, _):
      state = .answered
      note(answer)
      connection.enter(.answer)
      return .answer(answer)
    case .head, .answered:
      return .close
    }
  }

  /// Nothing more comes of it.
  ///
  /// - Parameter isSent: whether the answer that libmicrohttpd was given went out.
  func finish(isSent: Bool) {
    let (isCut, statusOfCut) = connection.cut
    // Whoever is told may take time that is not the client's.
    connection.enter(.lingering)
    defer { connection.enter(.head) }
    guard let head, head.isUpload || failure != nil else { return }
    if told == nil {
      let refusal = connection.reasonOfCut ?? lost
      failure = RecordFailure(refusal)
    }
    if isCut { status = statusOfCut } else if !isSent, !isCutShort { status = nil }
    let record = told ?? record(isComplete: false)
    // What came of it is taken back before anybody is told.
    state = .answered
    intake = nil
    service.onRequest(
      ReceivedRequest(
        peer: connection.peer, method: head.method, target: target, status: status,
        duration: duration ?? .now - began, underlying: cause, record: record))
  }
}

extension Exchange {
  private func take(
    _ bytes: UnsafeRawBufferPointer, as reading: BodyDecoder, into intake: PartCollector
  ) throws {
    switch reading {
    case .form(let parser):
      var rest = bytes
      while let event = try parser.next(&rest) { try intake.handle(event) }
    case .fields(let reader): try reader.take(bytes, to: intake)
    case .raw: try intake.write(bytes)
    }
  }

  private func end(_ reading: BodyDecoder, into intake: PartCollector) throws {
    switch reading {
    case .form(let parser): while let event = try parser.finish() { try intake.handle(event) }
    case .fields(let reader): try reader.end(intake)
    case .raw: try intake.endPart()
    }
  }

  private func note(_ answer: Answer) {
    status = answer.status
    duration = .now - began
  }

  private func tooLarge(_ limit: Int64) -> UploadRefusal {
    UploadRefusal(
      .bodyTooLarge, status: 413,
      "The body has more than \(limit) bytes, which is the limit here: send less.")
  }

  private var lost: UploadRefusal {
    UploadRefusal(
      .connectionLost, status: 400,
      "The connection ended at byte \(bodyBytes) of the body, or what frames it is broken there.")
  }

  /// - Parameters:
  ///   - cause: what the refusal was made of.
  ///   - isCertain: whether it is known where the request ends.
  ///   - isRead: whether that was reached.
  private func refuse(
    _ refusal: UploadRefusal, cause: (any Error)? = nil, isCertain: Bool = true,
    isRead: Bool = false
  ) -> Step {
    failure = RecordFailure(refusal)
    if let offset = (cause as? MultipartError)?.offset { bodyBytes = offset }
    self.cause = cause
    let record = record(isComplete: false)
    told = record
    var answer = answer(for: record, status: refusal.status)
    if refusal.status == 401 { answer.headers += Access.challenges }
    if refusal.status == 405 { answer.headers.append(.init("Allow", "GET, HEAD, POST, PUT")) }
    // The parts' files go.
    intake = nil
    if isRead {
      state = .discarding(answer, left: 0)
      return end()
    }
    if isCertain, let head, !head.announcesBody {
      state = .discarding(answer, left: 0)
      return answerWithoutBody(head)
    }
    answer.closes = true
    if !connection.isTLS {
      state = .answered
      isCutShort = true
      note(answer)
      return .cut(answer)
    }
    // Under TLS libmicrohttpd sends the answer: at once, where the body was not begun; and then it closes, with
    // what the client is still sending unread, which may cost the client the answer. A short body is read first.
    let isShort = head?.contentLength.map { $0 - bodyBytes <= Self.maximumDiscarded } ?? false
    if isCertain, isBodyBegun || (isShort && head?.expectsContinue != true) {
      state = .discarding(answer, left: Self.maximumDiscarded)
      return .goOn
    }
    state = .discarding(answer, left: 0)
    return end()
  }

  /// libmicrohttpd closes behind an answer that comes before the request's end, also where no body follows. But
  /// it would bid one to come that was announced by `Expect` only.
  private func answerWithoutBody(_ head: RequestHead) -> Step {
    head.expectsContinue ? end() : .goOn
  }

  private func answer(_ record: ReceivedRecord, status: Int) -> Step {
    told = record
    // What the parts were held by is not needed while the client reads.
    intake = nil
    state = .discarding(answer(for: record, status: status), left: 0)
    return end()
  }

  private func answer(for record: ReceivedRecord, status: Int) -> Answer {
    let accepted = head?.values(of: "accept").joined(separator: ",") ?? ""
    return .record(record, status: status, asPage: accepted.contains("text/html"))
  }

  private func record(isComplete: Bool) -> ReceivedRecord {
    ReceivedRecord(
      body: ParsedRecord(
        bodyBytes: bodyBytes, isComplete: isComplete, parts: intake?.parts ?? [], error: failure),
      framing: (head?.framing ?? .none).rawValue, contentLength: head?.contentLength)
  }
}

extension RequestHead {
  fileprivate func upload(from peer: String) -> UploadRequest {
    UploadRequest(
      peer: peer, method: method, target: target, path: "/\(decodedPath)", headers: fields,
      framing: framing, contentLength: contentLength)
  }

  /// The part that a body is which is no form. A PUT names what it puts.
  fileprivate var rawPart: PartDescription {
    // What ends in a slash names no file.
    let name = method == "PUT" && !path.hasSuffix("/") ? decodedPath : ""
    return PartDescription(
      filename: name.isEmpty ? nil : name, contentType: values(of: "content-type").first)
  }
}
