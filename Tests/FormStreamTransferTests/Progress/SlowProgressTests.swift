import Dispatch
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Progress is a state: a closure that takes its time sees the newest, and holds nothing back.
@Suite(.timeLimit(.minutes(1))) struct SlowProgressTests {
  /// Blocks in its first call until the gate is opened.
  private final class SlowClosure: Sendable {
    let reports = ProgressReports()
    let (begun, goOn): (Gate, Gate)

    init() throws { (begun, goOn) = (try Gate(), try Gate()) }

    func call(_ progress: TransferProgress) {
      reports.append(progress)
      begun.open()
      _ = goOn.wait()
    }
  }

  private func request(_ url: String, _ pace: ProgressPace) throws -> TransferRequest {
    var request = try makeRequest(url, .bytes(noise(8 << 20)))
    request.options.progressPace = pace
    return request
  }

  /// It was called once for each of up to 64 states of the past.
  @Test func `a slow closure gets the newest state, and then the last`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let (session, closure) = (try makeSession(), try SlowClosure())
    let request = try request(server.url, .atMost(every: .nanoseconds(1)))
    let waiting = Task(executorPreference: OwnThreads()) {
      await session.result(of: request, progress: closure.call)
    }
    #expect(await onNewThread { closure.begun.wait() })
    #expect(await eventually { session.tasks.isEmpty })
    closure.goOn.open()
    #expect(await waiting.value.outcome == .ok)
    // The newest state can be the last one already.
    #expect(closure.reports.all.count <= 2)
    #expect(closure.reports.all.last?.phase == .done)
    #expect(closure.reports.all.last?.fraction == 1)
  }

  @Test func `a listener that comes late gets the newest state only`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let task = try makeSession().start(
      try request(server.url, .atMost(every: .nanoseconds(1))))
    var listener = task.progress.makeAsyncIterator()
    _ = await task.result
    #expect(await listener.next()?.phase == .done)
    #expect(await listener.next() == nil)
  }

  @Test func `each state waits for a closure that wants all of them`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let (session, closure) = (try makeSession(), try SlowClosure())
    let request = try request(server.url, .all)
    let waiting = Task(executorPreference: OwnThreads()) {
      await session.result(of: request, progress: closure.call)
    }
    #expect(await onNewThread { closure.begun.wait() })
    #expect(await eventually { session.tasks.isEmpty })
    closure.goOn.open()
    #expect(await waiting.value.outcome == .ok)
    #expect(closure.reports.all.count > 10)
    closure.reports.expectOrder()
  }

  @Test(arguments: [ProgressPace.all, .atMost(every: .nanoseconds(1))])
  func `a request that is cancelled doesn't show what was before`(_ pace: ProgressPace) async throws {
    let (reached, never) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in [.readBody, .open(reached), .waitFor(never)] }
    let (session, closure) = (try makeSession(), try SlowClosure())
    let request = try request(server.url, pace)
    let waiting = Task(executorPreference: OwnThreads()) {
      await session.result(of: request, progress: closure.call)
    }
    #expect(await onNewThread { closure.begun.wait() && reached.wait() })
    waiting.cancel()
    #expect(await eventually { session.tasks.isEmpty })
    closure.goOn.open()
    #expect(await waiting.value.outcome != .ok)
    #expect(closure.reports.all.count == 2)
    #expect(closure.reports.all.last?.phase == .done)
  }

  @Test func `a slow closure of a download gets the newest state, and then the last`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in [.readBody, .respond(200, bytes: noise(8 << 20))] }
    let (session, closure) = (try makeSession(), try SlowClosure())
    var options = TransferOptions.download
    options.progressPace = .atMost(every: .nanoseconds(1))
    let request = try TransferRequest(.get, server.url, options: options)
    let settings = DownloadSettings(.file(place.path("file")))
    let waiting = Task(executorPreference: OwnThreads()) {
      await session.startDownload(request, settings).result(progress: closure.call)
    }
    #expect(await onNewThread { closure.begun.wait() })
    // Downloads are not among the session's tasks.
    await session.finish()
    closure.goOn.open()
    #expect(await waiting.value.file?.size == 8 << 20)
    #expect(closure.reports.all.count <= 3)
    #expect(closure.reports.all.last?.phase == .done)
  }
}

/// Threads for tasks that block: those that tasks share are few, and other tests need them.
private final class OwnThreads: TaskExecutor {
  private let queue = DispatchQueue(label: "SlowProgressTests", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
