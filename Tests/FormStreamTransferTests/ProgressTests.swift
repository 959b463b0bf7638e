import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// What was told of a transfer, in its order.
final class Told: @unchecked Sendable {
  private let lock = NSLock()
  private var steps: [TransferProgress] = []

  var all: [TransferProgress] { lock.withLock { steps } }
  func append(_ step: TransferProgress) { lock.withLock { steps.append(step) } }

  /// What must hold of every progress, whatever happens.
  func expectOrder(sourceLocation: SourceLocation = #_sourceLocation) {
    var last: TransferProgress?
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
        #expect(last.handedOver <= step.handedOver, sourceLocation: sourceLocation)
        #expect(last.attempt <= step.attempt, sourceLocation: sourceLocation)
        #expect(last.elapsed <= step.elapsed, sourceLocation: sourceLocation)
        if let (before, now) = last.acknowledged.flatMap({ before in
          step.acknowledged.map { (before, $0) }
        }) {
          #expect(before <= now, sourceLocation: sourceLocation)
        }
        for (before, now) in zip(last.parts, step.parts) {
          #expect(before.sent ?? 0 <= now.sent ?? 0, sourceLocation: sourceLocation)
        }
      }
      last = step
    }
    #expect(last?.phase == .done, sourceLocation: sourceLocation)
  }

  /// The phases, each as often as it was come to.
  var phases: [TransferProgress.Phase] {
    all.reduce(into: []) { phases, step in
      if phases.last != step.phase { phases.append(step.phase) }
    }
  }
}

/// How far a transfer is said to be.
@Suite struct ProgressTests {
  /// More than all buffers between here and a server that holds.
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

  @Test func `it goes through the phases, and all parts come to their size`() async throws {
    let server = try ScriptedServer { _ in .good(body: "thanks") }
    let told = Told()
    let request = try request(server.url, .form(form()))
    let result = try await patientSession().result(of: request) { told.append($0) }
    #expect(result.outcome == .ok)
    told.expectOrder()
    // Where a listener is as fast as what happens, it sees them all.
    #expect(told.phases.starts(with: [.connecting, .sending, .waiting]), "\(told.phases)")
    let last = try #require(told.all.last)
    #expect(last.fraction == 1)
    #expect(last.hasResponse)
    #expect(last.received == 6)
    #expect(last.parts.map(\.sent) == [5, 3_000_000, 1_000_000])
    #expect(last.parts.map(\.size) == [5, 3_000_000, 1_000_000])
    #expect(last.parts.map(\.name) == ["note", "one", "two"])
    #expect(server.faults.isEmpty)
  }

  @Test func `while the server holds, it is not all handed over`() async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    var options = ScriptedServer.Options()
    options.receiveBuffer = 16 * 1024
    let server = try ScriptedServer(options) { _ in
      [.continueIfExpected, .readBody(upTo: 1_000_000), .open(reached), .waitFor(goOn)] + .good()
    }
    let place = try TemporaryDirectory()
    let request = try request(server.url, .form(largeForm(place)))
    let task = try patientSession().start(request)
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

  @Test func `a second attempt does not go back`() async throws {
    let server = try ScriptedServer(requests: [
      [.continueIfExpected, .readBody(upTo: 2_000_000), .reset], .good(),
    ])
    let told = Told()
    let place = try TemporaryDirectory()
    var request = try request(server.url, .form(largeForm(place)))
    request.options.retry = RetryPolicy(attempts: 2)
    request.options.retry.baseDelay = .milliseconds(1)
    let result = try await patientSession().result(of: request) { told.append($0) }
    #expect(result.outcome == .ok)
    #expect(result.attempts == 2)
    #expect(result.wireBytes > result.bytesSent)
    told.expectOrder()
    #expect(told.all.last?.attempt == 2)
    #expect(server.faults.isEmpty)
  }

  @Test func `what is sent on does not go back either`() async throws {
    let server = try ScriptedServer { request in
      request.target == "/" ? .good(307, headers: [("Location", "/there")]) : .good()
    }
    let told = Told()
    let request = try request(server.url, .form(form()))
    let result = try await patientSession().result(of: request) { told.append($0) }
    #expect(result.outcome == .ok)
    #expect(result.redirects == 1)
    told.expectOrder()
    #expect(server.completeBodyCount == 2)
    #expect(server.faults.isEmpty)
  }

  @Test func `what is acknowledged is what was taken, nearly`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let size = 8_000_000
    let proxy = try SlowProxy(
      to: server.port, bytesPerSecond: 1_000_000, receiveBuffer: 64 * 1024)
    var request = try request(proxy.url, .bytes(noise(size)))
    request.options.expectation = .never
    let told = Told()
    let near = 1024 * 1024
    let session = try patientSession()
    let task = session.start(request)
    async let listening: Void = {
      for await step in task.progress {
        told.append(step)
        let acknowledged = Int(step.acknowledged ?? 0)
        #expect(acknowledged <= proxy.receivedCount + near)
      }
    }()
    // The line itself is the clock.
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
    told.expectOrder()
    #expect(server.faults.isEmpty)
  }

  @Test func `any number may listen, at any time, and all come to the end`() async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    var options = ScriptedServer.Options()
    options.receiveBuffer = 16 * 1024
    let server = try ScriptedServer(options) { _ in
      [.continueIfExpected, .readBody(upTo: 1_000_000), .open(reached), .waitFor(goOn)] + .good()
    }
    let place = try TemporaryDirectory()
    let task = try patientSession().start(try request(server.url, .form(largeForm(place))))
    let early = [Told(), Told(), Told()]
    async let listening: Void = withTaskGroup { group in
      for told in early {
        group.addTask { for await step in task.progress { told.append(step) } }
      }
    }
    #expect(await onNewThread { reached.wait() })
    var late = task.progress.makeAsyncIterator()
    let first = await late.next()
    #expect(first?.phase == .sending)
    // Who breaks off keeps nobody else from listening.
    for await _ in task.progress { break }
    goOn.open()
    let result = await task.result
    await listening
    #expect(result.outcome == .ok)
    for told in early { told.expectOrder() }
    while let step = await late.next() {
      if step.phase == .done { break }
    }
    #expect(await late.next() == nil)
    // One who comes when all is over is told how it ended.
    let after = Told()
    for await step in task.progress { after.append(step) }
    #expect(after.all.map(\.phase) == [.done])
    #expect(after.all.first?.fraction == 1)
    #expect(server.faults.isEmpty)
  }

  @Test func `nothing is told once the result is there`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try patientSession()
    for _ in 0..<50 {
      let told = Told()
      _ = await session.result(of: try request(server.url, .bytes(noise(1000)))) { step in
        told.append(step)
      }
      let count = told.all.count
      #expect(told.all.last?.phase == .done)
      // The connection has been used again meanwhile, and nothing more was said.
      _ = await session.result(of: try TransferRequest(.get, server.url))
      #expect(told.all.count == count)
    }
    #expect(server.faults.isEmpty)
  }

  @Test func `a smooth pace is told seldom`() async throws {
    let server = try ScriptedServer { _ in
      [.continueIfExpected, .readBody(rate: 2_000_000)] + .good()
    }
    var request = try request(server.url, .bytes(noise(1_000_000)))
    request.options.progressPace = .smooth
    let told = Told()
    let result = try await patientSession().result(of: request) { told.append($0) }
    #expect(result.outcome == .ok)
    told.expectOrder()
    // Twenty a second, the changes of phase, the first, and the last.
    let most = Int(result.duration / .milliseconds(50)) + 8
    #expect(told.all.count <= most)
    #expect(server.faults.isEmpty)
  }

  @Test func `of an unknown total there is no fraction`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let bytes = noise(2_000_000)
    let told = Told()
    let request = try request(server.url, .stream { InputStream(data: Data(bytes)) })
    let result = try await patientSession().result(of: request) { told.append($0) }
    #expect(result.outcome == .ok)
    #expect(told.all.allSatisfy { $0.total == nil && $0.fraction == nil })
    told.expectOrder()
    #expect(told.all.last?.handedOver == 2_000_000)
    #expect(server.faults.isEmpty)
  }

  @Test func `where there is no byte, it is done once the request is out`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let told = Told()
    let request = try request(server.url, .bytes([]))
    let result = try await patientSession().result(of: request) { told.append($0) }
    #expect(result.outcome == .ok)
    told.expectOrder()
    #expect(told.all.first?.fraction ?? 0 == 0)
    #expect(told.all.last?.fraction == 1)

    let unreached = Told()
    // A server that is let go at once: nobody is at its port.
    let nowhere = try ScriptedServer { _ in .good() }.url
    _ = try await patientSession().result(of: self.request(nowhere, .bytes([]))) {
      unreached.append($0)
    }
    #expect(unreached.all.last?.fraction == 0)
    #expect(server.faults.isEmpty)
  }
}
