import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Servers that can't be reached while they keep an unfinished upload. Regression: five attempts took three seconds, and a server takes
/// longer to start.
struct OutageTests {
  private static let bytes = noise(3000)

  private static let steps: [AttemptStep] = [.offset, .append(from: 400, to: 600), .append(from: 400, to: 1000)]

  private func decision(
    _ step: AttemptStep, _ facts: AttemptFacts, tries: Int, patience: Duration?, doubt: Doubt = .none
  ) throws -> Expected {
    var options = TransferOptions()
    options.resumption = .http
    options.retry = RetryPolicy(attempts: 3)
    options.retry.patience = patience
    let attempt = Attempt(
      .post, try HTTPURL("http://a.example/form"), changesSomething: true, step: step, bodyLength: 1000, tries: tries,
      earlierDoubt: doubt, mayResume: true,
      resource: UploadResource(try HTTPURL("http://a.example/upload"), confirmed: 400, mostSent: 1000),
      options: Shared(options))
    return Expected(attempt.decision(on: facts), saying: nil)
  }

  private func failing(_ stage: AttemptStage, isTransient: Bool = true) -> AttemptFacts {
    AttemptFacts(
      failure: TransferError(.connectionLost, on: "test", "It failed."), isTransient: isTransient, stage: stage)
  }

  @Test(arguments: steps)
  func `while an upload can go on, attempts to reach its server don't count`(_ step: AttemptStep) throws {
    for tries in [1, 3, 100] {
      for doubt in [Doubt.none, .open] {
        let outcome = doubt == .none ? TransferResult.Outcome.retryable : .unknown
        let waiting = try decision(step, failing(.notSent), tries: tries, patience: .seconds(300), doubt: doubt)
        #expect(waiting == .awaitServer(outcome, .connectionLost))
      }
    }
    // What another attempt doesn't mend.
    let final = try decision(step, failing(.notSent, isTransient: false), tries: 1, patience: .seconds(300))
    #expect(final.isConclusion)
  }

  @Test(arguments: steps)
  func `without patience, attempts count as always`(_ step: AttemptStep) throws {
    for stage in [AttemptStage.notSent, .partlySent] {
      #expect(try !decision(step, failing(stage), tries: 2, patience: nil).isConclusion)
      #expect(try decision(step, failing(stage), tries: 3, patience: nil).isConclusion)
    }
  }

  @Test func `a question without an answer has not reached its server, whatever was sent`() throws {
    for stage in [AttemptStage.notSent, .partlySent, .sent] {
      #expect(
        try decision(.offset, failing(stage), tries: 9, patience: .seconds(1)) == .awaitServer(.retryable, .connectionLost))
    }
    // A server that breaks each piece has answered before, and could break them for ever.
    let piece = AttemptStep.append(from: 400, to: 1000)
    #expect(try decision(piece, failing(.partlySent), tries: 3, patience: .seconds(1)).isConclusion)
    // Responses count as always, except those that name a time when the upload can go on.
    let busy = AttemptFacts(response: .init(status: 503))
    let busyForNow = AttemptFacts(response: .init(status: 503, retryAfter: .seconds(1)))
    for step in Self.steps {
      #expect(try decision(step, busy, tries: 3, patience: .seconds(1)).isConclusion)
      #expect(try decision(step, busyForNow, tries: 9, patience: .seconds(1)) == .awaitServer(.retryable, .statusRefused))
      #expect(try decision(step, busyForNow, tries: 3, patience: nil).isConclusion)
    }
  }

  @Test func `a request that has begun no upload has nothing to wait for`() throws {
    var options = TransferOptions()
    options.retry = RetryPolicy(attempts: 3)
    options.retry.patience = .seconds(300)
    for step in [AttemptStep.request, .options, .creation] {
      let attempt = Attempt(
        .post, try HTTPURL("http://a.example/form"), changesSomething: true, step: step, bodyLength: 1000, tries: 3,
        mayResume: true, options: Shared(options))
      #expect(Expected(attempt.decision(on: failing(.notSent)), saying: nil).isConclusion)
    }
  }

  private func loop(_ change: (inout RetryPolicy) -> Void = { _ in }) -> RetryLoop {
    var policy = RetryPolicy(attempts: 3)
    policy.patience = .seconds(300)
    change(&policy)
    return RetryLoop(policy, budget: RetryBudget(0), start: start)
  }

  private let start = ContinuousClock.now

  @Test func `attempts are made for as long as the patience lasts, and not more than 15 seconds apart`() {
    var loop = loop()
    var (now, count, longest) = (start, 0, Duration.zero)
    while count < 1000 {
      loop.tries += 1
      loop.noteOutage(now: now)
      guard case .attempt(let wait) = loop.next(now: now) else { break }
      longest = max(longest, wait)
      now += wait + .seconds(1)
      count += 1
    }
    #expect(longest <= .seconds(15) && (20...300).contains(count), "\(longest), \(count)")
    #expect((.seconds(300)..<Duration.seconds(316)).contains(start.duration(to: now)))
    #expect(loop.tries == 0)
    guard case .end(_?) = loop.next(now: now) else { return #expect(Bool(false), "no reason") }
  }

  @Test func `the patience begins anew after an outage`() {
    var loop = loop()
    loop.noteOutage(now: start)
    loop.noteOutage(now: start + .seconds(299))
    #expect(loop.patienceLeft(now: start + .seconds(299)) == .seconds(1))
    loop.endOutage()
    #expect(loop.patienceLeft() == nil)
    loop.noteOutage(now: start + .seconds(299))
    #expect(loop.patienceLeft(now: start + .seconds(300)) == .seconds(300))
  }

  @Test func `patience adds to the attempts, takes none away, and keeps to the time limit`() {
    var slow = loop { $0.fixedDelay = .seconds(600) }
    for _ in 0..<2 {
      slow.noteOutage(now: start)
      #expect(slow.next(now: start + .seconds(1000)) == .attempt(after: .seconds(600)))
    }
    slow.noteOutage(now: start)
    #expect(slow.next(now: start + .seconds(1000)) != .attempt(after: .seconds(600)))
    var limited = loop {
      $0.timeLimit = .seconds(20)
      $0.fixedDelay = .seconds(5)
    }
    limited.noteOutage(now: start)
    #expect(limited.next(now: start + .seconds(15)) == .attempt(after: .seconds(5)))
    #expect(limited.next(now: start + .seconds(16)) != .attempt(after: .seconds(5)))
  }

  /// A server that keeps uploads by tus, breaks the first piece, and then resets the questions for the offset.
  private func server(silentFor questions: Int) throws -> (ScriptedServer, silent: Guarded<Int>) {
    let silent = Guarded(questions)
    let broken = Guarded(false)
    let server = try ScriptedServer { request in
      switch request.method {
      case "POST": return [.readBody, .respond(201, headers: [("Location", "/u")])]
      case "HEAD":
        let isSilent = silent.withLock {
          $0 -= 1
          return $0 >= 0
        }
        return [isSilent ? .reset : .respond(200, headers: [("Upload-Offset", "0")])]
      default:
        let isFirst = broken.withLock { isBroken in
          defer { isBroken = true }
          return !isBroken
        }
        return [.readBody, isFirst ? .reset : .respond(204, headers: [("Upload-Offset", "3000")])]
      }
    }
    return (server, silent)
  }

  private func request(_ server: ScriptedServer, patience: Duration?) throws -> TransferRequest {
    var request = try makeRequest(server.url, .bytes(Self.bytes), attempts: 3)
    request.options.resumption = .tus
    request.options.retry.maximumDelay = .milliseconds(1)
    request.options.retry.patience = patience
    return request
  }

  @Test func `an upload goes on after an outage, which is announced once and takes nothing out of the budget`() async throws {
    let (server, _) = try server(silentFor: 20)
    var request = try request(server, patience: .seconds(100))
    let retries = Guarded<[TransferRetry]>([])
    request.options.willRetry = { retry in retries.withLock { $0.append(retry) } }
    var configuration = TransferSession.Configuration()
    configuration.retryBudget = 1
    let result = try await TransferSession(configuration).result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    let noted = retries.withLock(\.self)
    #expect(noted.map(\.attempt) == Array(2...22))
    #expect(noted.filter { $0.timeLeft == .seconds(100) }.count == 1 && noted.filter { $0.timeLeft == nil }.count == 1)
  }

  @Test func `after the patience, the upload can go on later`() async throws {
    let (server, silent) = try server(silentFor: .max)
    let end = try await makeSession().result(of: request(server, patience: .milliseconds(30)))
    #expect(end.outcome == .unknown && end.resumeData?.uploadURL != nil)
    #expect(end.error?.description.contains("was tried for 0.03 s") == true, "\(String(describing: end.error))")
    silent.withLock { $0 = 0 }
    var next = try request(server, patience: nil)
    next.options.resuming = end.resumeData
    #expect(try await makeSession().result(of: next).outcome == .ok)
  }

  @Test func `cancelling ends the wait, and keeps what is needed to go on`() async throws {
    let (server, _) = try server(silentFor: .max)
    var request = try request(server, patience: .seconds(1000))
    let waits = try Gate()
    request.options.willRetry = { if $0.timeLeft != nil { waits.open() } }
    let task = try makeSession().start(request)
    #expect(await onNewThread { waits.wait() })
    task.cancel()
    let result = await task.result
    #expect([.unknown, .cancelled].contains(result.outcome) && result.resumeData?.uploadURL != nil)
  }

  /// Regression: the answered questions ended the outage again and again, so that it went on for ever.
  @Test func `a server that answers each question and breaks each piece is tried for as long as the patience lasts`()
    async throws
  {
    let appends = Guarded(0)
    let server = try ScriptedServer { request in
      switch request.method {
      case "POST": return [.readBody, .respond(201, headers: [("Location", "/u")])]
      case "HEAD": return [.respond(200, headers: [("Upload-Offset", "0")])]
      default:
        let count = appends.withLock {
          $0 += 1
          return $0
        }
        return count < 1000 ? [.reset] : [.readBody, .respond(204, headers: [("Upload-Offset", "3000")])]
      }
    }
    var request = try request(server, patience: .milliseconds(30))
    request.options.expectation = .always
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable && result.resumeData?.uploadURL != nil, "\(result.outcome)")
    #expect(appends.withLock(\.self) >= 3)
    #expect(result.error?.description.contains("was tried for") == true, "\(String(describing: result.error))")
  }

  /// Regression: five attempts with a second between them, while a receiver closes what its predecessor holds for longer.
  @Test func `an upload that another request still holds is waited for`() async throws {
    let busy = Guarded(3)
    let server = try ScriptedServer { request in
      switch (request.method, request.number) {
      case ("POST", _): return [.readBody, .respond(201, headers: [("Location", "/u")])]
      case ("HEAD", _):
        let isBusy = busy.withLock {
          $0 -= 1
          return $0 >= 0
        }
        return isBusy ? [.respond(503, headers: [("Retry-After", "1")])] : [.respond(200, headers: [("Upload-Offset", "0")])]
      default:
        return busy.withLock(\.self) < 0
          ? [.readBody, .respond(204, headers: [("Upload-Offset", "3000")])] : [.readBody(upTo: 10), .reset]
      }
    }
    let result = try await makeSession().result(of: request(server, patience: .seconds(100)))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
  }

  /// Regression: it was announced that a server is tried for minutes, while the time to begin attempts was shorter.
  @Test func `the time limit shortens the patience, and is named`() {
    var limited = loop { $0.timeLimit = .seconds(20) }
    limited.noteOutage(now: start)
    #expect(limited.patienceLeft(now: start + .seconds(5)) == .seconds(15))
    let end = limited.next(now: start + .seconds(21))
    guard case .end(let reason?) = end else { return #expect(Bool(false), "no reason") }
    #expect("\(reason)".contains("20 s"), "\(reason)")
  }

  /// Regression: the first attempt of a second run was the second one, and called itself the first.
  @Test func `a retry is never the first attempt`() async throws {
    let numbers = Guarded<[Int]>([])
    let server = try ScriptedServer { request in
      switch (request.method, request.number) {
      case ("POST", _): [.readBody, .respond(201, headers: [("Location", "/u")])]
      case ("HEAD", _): [.respond(404)]
      case (_, 1): [.readBody(upTo: 10), .reset]
      default: [.readBody, .respond(204, headers: [("Upload-Offset", "3000")])]
      }
    }
    var request = try makeRequest(.post, server.url, .bytes(Self.bytes), attempts: 1)
    request.options.resumption = .tus
    request.options.retry.retriesUnsafe = true
    request.options.resuming = try await makeSession().result(of: request).resumeData
    request.options.retry.attempts = 3
    request.options.willRetry = { retry in numbers.withLock { $0.append(retry.attempt) } }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(numbers.withLock(\.self) == [2])
  }
}
