import FormStreamDigest
import FormStream
import Foundation
import FormStreamPlatform

/// A request from its first attempt to its result: what is sent when, and what that means.
///
/// What goes on the wire is an `Exchange`'s business; this decides which come, one after the other.
final class TransferRun: Sendable {
  let engine: Engine
  let board: ProgressBoard
  let control: TransferControl

  let request: TransferRequest
  private let session: TransferSession
  private let tracer: Tracer?

  init(_ request: TransferRequest, session: TransferSession, engine: Engine) {
    self.request = request
    self.session = session
    self.engine = engine
    board = ProgressBoard(pace: request.options.progressPace)
    control = TransferControl(engine)
    tracer = request.options.trace.map { Tracer(request, tell: $0) }
  }

  /// What the request comes to.
  func perform() async -> TransferResult {
    var course = Course(request)
    do throws(TransferError) {
      try await course.prepare(control)
    } catch {
      let outcome: TransferResult.Outcome =
        switch error.code {
        case .cancelled: .cancelled
        case .sourceChanged: .sourceChanged
        default: .failed
        }
      return conclude(course, .init(outcome, error))
    }
    board.begin(course.body)
    while true {
      await control.passPause()
      if control.isCancelled { return conclude(course, .init(.cancelled, .called)) }
      let end: Exchange.End
      do throws(TransferError) {
        end = try await exchange(course)
      } catch {
        return conclude(course, .init(.failed, error))
      }
      course.note(end)
      learn(from: end, course)
      switch judge(end, course) {
      case .conclude(let verdict): return conclude(course, verdict)
      case .follow(let url): course.follow(url)
      case .repeatWithoutAsking: course.repeatWithoutAsking()
      case .fetchPage(let url): return await fetchPage(url, after: course)
      case .retry(let verdict, let wanted):
        guard let wait = wait(for: wanted, course), session.budget.take() else {
          return conclude(course, verdict)
        }
        tracer?.note("Trying again in \(wait.inSeconds): \(verdict.error?.description ?? "")")
        board.update { $0.phase = .retrying }
        guard await rest(wait) else { return conclude(course, .init(.cancelled, .called)) }
        course.retry()
        board.update { $0.attempt = course.attempts + 1 }
      }
    }
  }

  // MARK: An attempt

  private func exchange(_ course: Course) async throws(TransferError) -> Exchange.End {
    board.update { $0.phase = .connecting }
    let asks = asks(course)
    var order = course.order(
      askingPatience: asks ? request.options.expectation.timeout : nil,
      configuration: session.configuration
    ) { [self] status, headers in
      isFinal(status, headers, course)
    }
    // What needs chunks can't go over a connection of HTTP/1.0; over a new one, the server is asked anew.
    if course.sendsBody, course.body?.contentLength == nil,
      session.hosts.speaksOldHTTP(course.url.origin)
    {
      order.usesIdleConnection = false
    }
    return await control.drive(try Exchange(order, board: board, tracer: tracer))
  }

  private func asks(_ course: Course) -> Bool {
    guard let body = course.body, course.sendsBody, course.mayAsk else { return false }
    switch request.options.expectation.kind {
    case .never: return false
    case .always: return true
    case .automatic:
      let isLarge = body.contentLength.map { $0 > 1024 * 1024 } ?? true
      return isLarge && !session.hosts.ignoresExpectation(course.url.origin)
    }
  }

  private func learn(from end: Exchange.End, _ course: Course) {
    if end.hasContinued {
      session.hosts.note(course.url.origin, ignoresExpectation: false)
    } else if end.askedInVain || end.isAskingRefused {
      session.hosts.note(course.url.origin, ignoresExpectation: true)
    }
    if let version = end.response?.version {
      session.hosts.note(course.url.origin, speaksOldHTTP: version == "1.0")
    }
    if let status = end.response?.status, status < 500, status != 429 {
      session.budget.noteSuccess()
    }
  }

  /// Whether nothing comes behind an answer, so that its body is the caller's.
  private func isFinal(_ status: Int, _ headers: HTTPHeaders, _ course: Course) -> Bool {
    if isWanted(status) { return true }
    if (300...399).contains(status), let location = headers["Location"] {
      if case .conclude = redirection(status, location, course, isSent: true) {
        return !course.isPage
      }
      return false
    }
    // A page that is not as it should be is no part of the answer.
    if course.isPage { return false }
    return !(isRefusal(status, course) && mayRetry(course))
  }

  // MARK: What an end means

  struct Verdict {
    var outcome: TransferResult.Outcome
    var error: TransferError?

    init(_ outcome: TransferResult.Outcome, _ error: TransferError?) {
      self.outcome = outcome
      self.error = error
    }
  }

  enum Step {
    case conclude(Verdict)
    case follow(HTTPURL)
    case repeatWithoutAsking
    case fetchPage(HTTPURL)
    case retry(Verdict, serverWants: Duration?)
  }

  private func judge(_ end: Exchange.End, _ course: Course) -> Step {
    if let code = end.failure?.code {
      if code == .cancelled { return .conclude(.init(.cancelled, end.failure)) }
      if code == .sourceChanged { return .conclude(.init(.sourceChanged, end.failure)) }
    }
    if let response = end.response { return judge(response, end, course) }
    return judgeSilence(end, course)
  }

  private func judge(
    _ response: TransferResponse, _ end: Exchange.End, _ course: Course
  ) -> Step {
    let status = response.status
    // RFC 9110 §15.5.18: a 417 says that the question was not understood, and nothing of the request.
    if end.isAskingRefused { return .repeatWithoutAsking }
    if isWanted(status) {
      guard end.isWhole else {
        return .conclude(
          .init(
            .unknown,
            TransferError(
              .respondedEarly, on: course.url.description,
              "The server at \(course.url) answered \(status) when it had "
                + "\(end.handedOverAtResponse ?? end.handedOver) of "
                + "\(course.body?.contentLength.map(String.init) ?? "an unknown number of") bytes: it can't "
                + "mean the whole body. Ask it what it has.")))
      }
      // What was asked for is the answer, where nothing was sent.
      if response.isTruncated, let failure = end.failure, !course.changesSomething {
        // What a stream was given can't be taken back, and what we can't store is not helped by asking.
        let isHelped = end.isTransient && !request.options.responseTarget.isStream
        return again(
          .init(end.isTransient ? .retryable : .failed, failure), course, isSafe: isHelped)
      }
      return .conclude(.init(.ok, end.failure))
    }
    if (300...399).contains(status), let location = response.headers["Location"] {
      return redirection(status, location, course, isSent: end.isWhole)
    }
    let refused = TransferError(
      .statusRefused, on: course.url.description,
      "The server at \(course.url) answered \(status) to \(course.method).")
    if isRefusal(status, course) {
      let isPassing = status == 429 || status == 503
      let wanted = RetryAfter.duration(response.headers)
      return again(
        .init(isPassing ? .retryable : .failed, refused), course, isSafe: true, serverWants: wanted)
    }
    return .conclude(.init(.failed, refused))
  }

  private func judgeSilence(_ end: Exchange.End, _ course: Course) -> Step {
    // Nothing of what follows helps against a source that fails.
    if end.failure?.underlying is MultipartError {
      return .conclude(.init(.failed, end.failure))
    }
    switch end.stage {
    case .notSent:
      guard end.isTransient else { return .conclude(.init(.failed, end.failure)) }
      return again(.init(.retryable, end.failure), course, isSafe: true)
    case .partlySent:
      // A server that closes early has mostly answered before; under TLS that answer can be lost.
      let outcome: TransferResult.Outcome = end.isEncrypted ? .unknown : .retryable
      return again(.init(outcome, end.failure), course, isSafe: true)
    case .sent:
      let isSafe =
        course.method.isIdempotent || request.options.idempotencyKey != nil
        || request.options.retry.retriesUnsafe
      let outcome: TransferResult.Outcome = course.changesSomething ? .unknown : .retryable
      return again(.init(outcome, end.failure), course, isSafe: isSafe)
    }
  }

  private func isWanted(_ status: Int) -> Bool {
    request.options.acceptedStatuses?.contains(status) ?? (200...299).contains(status)
  }

  /// Whether trying again is the answer to a status. 429 and 503 refuse a request before it is carried out;
  /// of the others that is not known.
  private func isRefusal(_ status: Int, _ course: Course) -> Bool {
    if status == 429 || status == 503 { return true }
    let isSafe =
      course.method.isIdempotent || request.options.idempotencyKey != nil
      || request.options.retry.retriesUnsafe
    return isSafe && [408, 500, 502, 504].contains(status)
  }

  /// RFC 9110 §15.4.4: a 303 says that the request was answered, and where a page about it is. Whatever comes
  /// of that page, the request was answered.
  private func fetchPage(_ url: HTTPURL, after course: Course) async -> TransferResult {
    var visit = course
    visit.turnToPage(url)
    while let end = try? await exchange(visit), let response = end.response {
      if (300...399).contains(response.status), let location = response.headers["Location"],
        case .follow(let next) = redirection(response.status, location, visit, isSent: true)
      {
        visit.follow(next)
        continue
      }
      // Of a page that broke off, a stream has a part already.
      guard isWanted(response.status), end.failure == nil || request.options.responseTarget.isStream
      else {
        break
      }
      var done = course
      done.turn(to: response, redirects: visit.redirects)
      return conclude(done, .init(.ok, end.failure))
    }
    return conclude(course, .init(.ok, nil))
  }

  // MARK: Trying again

  /// Whether another attempt may come behind the one that is under way.
  private func mayRetry(_ course: Course) -> Bool {
    course.tries + 1 < request.options.retry.attempts && course.body?.isReplayable != false
  }

  private func again(
    _ verdict: Verdict, _ course: Course, isSafe: Bool, serverWants: Duration? = nil
  ) -> Step {
    guard isSafe, course.tries < request.options.retry.attempts else { return .conclude(verdict) }
    if course.body?.isReplayable == false, course.wireBytes > 0 || course.hasBegunOneShot {
      guard let error = verdict.error else { return .conclude(verdict) }
      return .conclude(
        .init(
          verdict.outcome,
          TransferError(
            error.code, on: error.subject,
            error.description
              + " It is not tried again: its body is a stream that can be read once.",
            underlying: error.underlying)))
    }
    return .retry(verdict, serverWants: serverWants)
  }

  /// How long to wait before the next attempt; nil where it would come too late.
  private func wait(for wanted: Duration?, _ course: Course) -> Duration? {
    let policy = request.options.retry
    if let wanted, wanted > policy.maximumRetryAfter { return nil }
    let wait = wanted ?? Backoff.wait(before: course.tries + 1, policy)
    if let total = policy.timeLimit, course.start.duration(to: .now) + wait > total { return nil }
    return wait
  }

  /// False where the request was called off meanwhile.
  private func rest(_ wait: Duration) async -> Bool {
    do {
      try await Task.sleep(for: wait)
      return !control.isCancelled
    } catch {
      return false
    }
  }

  // MARK: The result

  private func conclude(_ course: Course, _ verdict: Verdict) -> TransferResult {
    var (course, verdict) = (course, verdict)
    do throws(TransferError) {
      try course.deliverResponse(to: request.options.responseTarget)
    } catch {
      if verdict.error == nil { verdict.error = error }
    }
    board.finish { progress in
      progress.phase = .done
      progress.hasResponse = course.response != nil
      if verdict.outcome == .ok, progress.acknowledged != nil {
        progress.acknowledged = progress.handedOver
      }
    }
    return TransferResult(
      url: request.url, method: request.method, outcome: verdict.outcome,
      response: course.response, attempts: course.attempts, redirects: course.redirects,
      contentLength: course.announcedLength, framing: course.framing, bytesSent: course.bytesSent,
      wireBytes: course.wireBytes, duration: course.start.duration(to: .now),
      sha256: course.sha256?.description, error: verdict.error)
  }
}
