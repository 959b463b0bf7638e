import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// The progress reports of a transfer, in order.
final class ProgressReports: @unchecked Sendable {
  private let lock = NSLock()
  private var steps: [TransferProgress] = []

  var all: [TransferProgress] { lock.withLock { steps } }
  func append(_ step: TransferProgress) { lock.withLock { steps.append(step) } }

  /// Checks what must be true of every progress.
  func expectOrder(sourceLocation: SourceLocation = #_sourceLocation) {
    var last: TransferProgress?
    // When a body that was handed over completely is sent again, its last byte is not handed over any more, nor is that of
    // each part.
    func goesOn(_ now: Int64, _ before: Int64, of total: Int64?) -> Bool {
      now >= before || before == total && now == before - 1
    }
    for step in all {
      #expect(step.handedOver <= step.read, sourceLocation: sourceLocation)
      #expect(step.acknowledged ?? 0 <= step.handedOver, sourceLocation: sourceLocation)
      if let total = step.total {
        #expect(step.read <= total, sourceLocation: sourceLocation)
        if total > 0 {
          #expect(
            (step.fraction == 1) == (step.handedOver == total), sourceLocation: sourceLocation)
        }
        let inParts = step.parts.map { $0.sent ?? 0 }.reduce(0, +)
        #expect(inParts <= step.handedOver, sourceLocation: sourceLocation)
      } else {
        #expect(step.fraction == nil, sourceLocation: sourceLocation)
      }
      if let last {
        #expect(last.read <= step.read, sourceLocation: sourceLocation)
        #expect(
          goesOn(step.handedOver, last.handedOver, of: step.total), sourceLocation: sourceLocation)
        #expect(last.attempt <= step.attempt, sourceLocation: sourceLocation)
        #expect(last.elapsed <= step.elapsed, sourceLocation: sourceLocation)
        if let (before, now) = last.acknowledged.flatMap({ before in
          step.acknowledged.map { (before, $0) }
        }) {
          #expect(goesOn(now, before, of: step.total), sourceLocation: sourceLocation)
        }
        for (before, now) in zip(last.parts, step.parts) {
          #expect(
            goesOn(now.sent ?? 0, before.sent ?? 0, of: now.size), sourceLocation: sourceLocation)
        }
      }
      last = step
    }
    #expect(last?.phase == .done, sourceLocation: sourceLocation)
  }

  /// The phases in order, repeated ones once.
  var phases: [TransferProgress.Phase] {
    all.reduce(into: []) { phases, step in
      if phases.last != step.phase { phases.append(step.phase) }
    }
  }
}

/// What a transfer reports about its progress.
@Suite(.timeLimit(.minutes(5))) struct ProgressTests {
  /// More than all buffers before a server that doesn't read.
  private static let large: Int64 = 64 << 20

  private func largeForm(_ place: TemporaryDirectory) throws -> Form {
    let file = try place.sparse("large", size: Self.large)
    return Form(boundary: try Boundary("B")) {
      Part.text("note", "hello")
      Part.file("file", file)
    }
  }

  private func form() throws -> Form {
    Form(boundary: try Boundary("B")) {
      Part.text("note", "hello")
      Part(name: "one", body: .bytes(noise(3_000_000)))
      Part(name: "two", body: .bytes(noise(1_000_000, seed: 2)))
    }
  }

  private func request(_ url: String, _ body: TransferBody) throws -> TransferRequest {
    var request = try TransferRequest(.post, url, body: body)
    request.options.progressPace = .all
    return request
  }

  @Test(arguments: [200, 500])
  func `progress that nobody followed is there after the end`(status: Int) async throws {
    let server = try ScriptedServer { _ in [.readBody, .respond(status)] }
    let task = try makeSession().start(
      try TransferRequest(.post, server.url, body: .bytes(noise(100_000))))
    _ = await task.result
    let last = task.progress.current
    #expect(last.phase == .done)
    #expect(last.read == 100_000)
    #expect(last.handedOver == 100_000)
    // The server responds after it has received them.
    #expect(last.acknowledged == 100_000)
    #expect(last.hasResponse)
  }

  @Test func `progress passes through all phases, and all parts reach their size`() async throws {
    let server = try ScriptedServer { _ in .good(body: "thanks") }
    let reports = ProgressReports()
    let request = try request(server.url, .form(form()))
    let result = try await makeSession().result(of: request) { reports.append($0) }
    #expect(result.outcome == .ok)
    reports.expectOrder()
    // A listener that is fast enough sees all phases.
    #expect(reports.phases.starts(with: [.connecting, .sending, .waiting]), "\(reports.phases)")
    let last = try #require(reports.all.last)
    #expect(last.fraction == 1)
    #expect(last.hasResponse)
    #expect(last.received == 6)
    #expect(last.parts.map(\.sent) == [5, 3_000_000, 1_000_000])
    #expect(last.parts.map(\.size) == [5, 3_000_000, 1_000_000])
    #expect(last.parts.map(\.name) == ["note", "one", "two"])
    #expect(server.faults.isEmpty)
  }

  @Test func `while the server doesn't read, not everything is handed over`() async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in
      [.continueIfExpected, .readBody(upTo: 1_000_000), .open(reached), .waitFor(goOn)] + .good()
    }
    let place = try TemporaryDirectory()
    let request = try request(server.url, .form(largeForm(place)))
    let task = try makeSession().start(request)
    #expect(await onNewThread { reached.wait() })
    let held = task.progress.current
    #expect(held.phase == .sending)
    #expect(held.handedOver < Self.large)
    #expect(held.parts.map(\.sent) == [5, held.parts.last?.sent])
    let fraction = try #require(held.fraction)
    #expect(fraction < 1)
    #expect(!held.hasResponse)
    goOn.open()
    let result = await task.result
    #expect(result.outcome == .ok)
    #expect(task.progress.current.fraction == 1)
    #expect(server.faults.isEmpty)
  }

  @Test func `the counts don't go back in a second attempt`() async throws {
    let server = try ScriptedServer(requests: [
      [.continueIfExpected, .readBody(upTo: 2_000_000), .reset], .good(),
    ])
    let reports = ProgressReports()
    let place = try TemporaryDirectory()
    var request = try request(server.url, .form(largeForm(place)))
    request.options.retry = RetryPolicy(attempts: 2)
    request.options.retry.baseDelay = .milliseconds(1)
    let result = try await makeSession().result(of: request) { reports.append($0) }
    #expect(result.outcome == .ok)
    #expect(result.attempts == 2)
    #expect(result.totalBytesSent > result.bytesSent)
    reports.expectOrder()
    #expect(reports.all.last?.attempt == 2)
    #expect(server.faults.isEmpty)
  }

  @Test func `the counts don't go back after a redirect`() async throws {
    let server = try ScriptedServer { request in
      request.target == "/" ? .good(307, headers: [("Location", "/there")]) : .good()
    }
    let reports = ProgressReports()
    let request = try request(server.url, .form(form()))
    let result = try await makeSession().result(of: request) { reports.append($0) }
    #expect(result.outcome == .ok)
    #expect(result.redirects == 1)
    reports.expectOrder()
    #expect(server.completeBodyCount == 2)
    #expect(server.faults.isEmpty)
  }

  /// It was 100 % as soon as the body was sent again.
  @Test(arguments: [503, 307, 411])
  func `a body that is sent again is complete only when its last byte was handed over again`(
    status: Int
  ) async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try ScriptedServer { request in
      request.number == 0
        ? .good(status, headers: [("Location", "/there")])
        : [.continueIfExpected, .readBody(upTo: 1000), .open(reached), .waitFor(goOn)] + .good()
    }
    let place = try TemporaryDirectory()
    let form = try largeForm(place)
    let path = place.path("large")
    let body: TransferBody =
      status == 411 ? .stream { InputStream(fileAtPath: path) } : .form(form)
    var request = try request(server.url, body)
    request.options.retry = RetryPolicy(attempts: 2)
    request.options.retry.baseDelay = .milliseconds(1)
    let reports = ProgressReports()
    let session = try makeSession()
    let task = session.start(request)
    async let listening: Void = { for await step in task.progress { reports.append(step) } }()
    try await reached.opened()
    let held = task.progress.current
    let total = try #require(held.total)
    #expect(held.handedOver == total - 1)
    #expect(held.fraction.map { $0 < 1 } == true)
    #expect(held.acknowledged.map { $0 < total } != false)
    if status != 411 {
      #expect(
        await eventually { task.progress.current.parts.map(\.sent) == [5, Self.large - 1] })
    }
    goOn.open()
    let result = await task.result
    await listening
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    reports.expectOrder()
    let last = try #require(reports.all.last)
    #expect(last.handedOver == total && last.fraction == 1)
    if status != 411 { #expect(last.parts.map(\.sent) == [5, Self.large]) }
    #expect(server.faults.isEmpty)
  }

  @Test func `the acknowledged count follows what the server received`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let size = 8_000_000
    let proxy = try SlowProxy(
      to: server.port, bytesPerSecond: 1_000_000)
    var request = try request(proxy.url, .bytes(noise(size)))
    request.options.expectation = .never
    let reports = ProgressReports()
    let near = 1024 * 1024
    let session = try makeSession()
    let task = session.start(request)
    async let listening: Void = {
      for await step in task.progress {
        reports.append(step)
        let acknowledged = Int(step.acknowledged ?? 0)
        #expect(acknowledged <= proxy.receivedCount + near)
      }
    }()
    // The line's own count serves as the clock.
    let farthest = await onNewThread {
      var farthest = 0
      for step in 1..<80 where proxy.wait(untilReceived: step * 100_000) {
        let acknowledged = Int(task.progress.current.acknowledged ?? 0)
        farthest = max(farthest, abs(acknowledged - proxy.receivedCount))
      }
      return farthest
    }
    #expect(farthest < near)
    let result = await task.result
    await listening
    #expect(result.outcome == .ok)
    reports.expectOrder()
    #expect(server.faults.isEmpty)
  }

  @Test func `any number of listeners may start at any time, and all reach the end`() async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in
      [.continueIfExpected, .readBody(upTo: 1_000_000), .open(reached), .waitFor(goOn)] + .good()
    }
    let place = try TemporaryDirectory()
    let task = try makeSession().start(try request(server.url, .form(largeForm(place))))
    let early = [ProgressReports(), ProgressReports(), ProgressReports()]
    async let listening: Void = withTaskGroup { group in
      for reports in early {
        group.addTask { for await step in task.progress { reports.append(step) } }
      }
    }
    #expect(await onNewThread { reached.wait() })
    var late = task.progress.makeAsyncIterator()
    let first = await late.next()
    #expect(first?.phase == .sending)
    // A listener that stops doesn't affect the others.
    for await _ in task.progress { break }
    goOn.open()
    let result = await task.result
    await listening
    #expect(result.outcome == .ok)
    for reports in early { reports.expectOrder() }
    while let step = await late.next() {
      if step.phase == .done { break }
    }
    #expect(await late.next() == nil)
    // A listener that starts after the end receives the last state.
    let after = ProgressReports()
    for await step in task.progress { after.append(step) }
    #expect(after.all.map(\.phase) == [.done])
    #expect(after.all.first?.fraction == 1)
    #expect(server.faults.isEmpty)
  }

  @Test func `no progress is reported after the result`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    for _ in 0..<50 {
      let reports = ProgressReports()
      _ = await session.result(of: try request(server.url, .bytes(noise(1000)))) { step in
        reports.append(step)
      }
      let count = reports.all.count
      #expect(reports.all.last?.phase == .done)
      // The connection was used again meanwhile, and nothing more was reported.
      _ = await session.result(of: try TransferRequest(.get, server.url))
      #expect(reports.all.count == count)
    }
    #expect(server.faults.isEmpty)
  }

  @Test func `a smooth pace reports at most twenty times a second`() async throws {
    let server = try ScriptedServer { _ in
      [.continueIfExpected, .readBody(rate: 2_000_000)] + .good()
    }
    var request = try request(server.url, .bytes(noise(1_000_000)))
    request.options.progressPace = .smooth
    let reports = ProgressReports()
    let result = try await makeSession().result(of: request) { reports.append($0) }
    #expect(result.outcome == .ok)
    reports.expectOrder()
    // Twenty a second, the changes of phase, the first, and the last.
    let most = Int(result.duration / .milliseconds(50)) + 8
    #expect(reports.all.count <= most)
    #expect(server.faults.isEmpty)
  }

  @Test func `a body of unknown total has no fraction`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let bytes = noise(2_000_000)
    let reports = ProgressReports()
    let request = try request(server.url, .stream { InputStream(data: Data(bytes)) })
    let result = try await makeSession().result(of: request) { reports.append($0) }
    #expect(result.outcome == .ok)
    #expect(reports.all.allSatisfy { $0.total == nil && $0.fraction == nil })
    reports.expectOrder()
    #expect(reports.all.last?.handedOver == 2_000_000)
    #expect(server.faults.isEmpty)
  }

  /// Its fraction was 1.0 when the request was sent, at 0 of 20 MiB.
  @Test func `a request without a body has no fraction, and its response has its own`() async throws {
    let size = 3_000_000
    let server = try ScriptedServer { _ in .good(body: String(repeating: "a", count: size)) }
    let reports = ProgressReports()
    var request = try TransferRequest(.get, server.url)
    request.options.progressPace = .all
    let result = try await makeSession().result(of: request) { reports.append($0) }
    #expect(result.outcome == .ok)
    #expect(reports.all.allSatisfy { $0.fraction == nil })
    #expect(reports.all.first?.responseFraction == nil)
    for step in reports.all where step.received > 0 {
      #expect(step.responseTotal == Int64(size))
      #expect((step.responseFraction == 1) == (step.received == Int64(size)))
    }
    #expect(reports.all.last?.responseFraction == 1)
    // RFC 9110 §9.3.2: the length of a response to HEAD is that of a body that doesn't follow.
    let head = ProgressReports()
    _ = try await makeSession().result(of: TransferRequest(.head, server.url)) { head.append($0) }
    #expect(head.all.allSatisfy { $0.responseTotal == nil })
  }

  @Test func `an empty body is complete after its request is sent`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let reports = ProgressReports()
    let request = try request(server.url, .bytes([]))
    let result = try await makeSession().result(of: request) { reports.append($0) }
    #expect(result.outcome == .ok)
    reports.expectOrder()
    #expect(reports.all.first?.fraction ?? 0 == 0)
    #expect(reports.all.last?.fraction == 1)

    let unreached = ProgressReports()
    // A server that is released at once: nothing is listening at its port.
    let nowhere = try ScriptedServer { _ in .good() }.url
    _ = try await makeSession().result(of: self.request(nowhere, .bytes([]))) {
      unreached.append($0)
    }
    #expect(unreached.all.last?.fraction == 0)
    #expect(server.faults.isEmpty)
  }
}
