import FormStreamNet
import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(2))) struct EventLoopTests {
  /// The loop slept on: its first wait did not look at what had been passed to it before.
  @Test func `a closure that is passed before the thread's first wait is called`() async throws {
    for _ in 0..<100 {
      let loop = try TestLoop()
      #expect(try await loop.run { 7 } == 7)
    }
  }

  @Test func `closures of eight threads are each called once, and those of one thread in their order`() async throws {
    let loop = try TestLoop()
    let (threads, count) = (8, 12_500)
    // Only the loop's thread uses it, without a lock.
    let seen = OnLoop([[Int]](repeating: [], count: threads))
    for thread in 0..<threads {
      let isStarted = startThread("posting") { [loop = loop.loop] in
        for number in 0..<count { loop.post { seen.value[thread].append(number) } }
      }
      #expect(isStarted)
    }
    #expect(await eventuallyOnLoop(loop) { seen.value.allSatisfy { $0.count == count } })
    let isInOrder = try await loop.run { seen.value.allSatisfy { $0 == Array(0..<count) } }
    #expect(isInOrder)
  }

  @Test func `a task on the loop runs on its thread, before and after it waits`() async throws {
    let loop = try TestLoop()
    let places = await Task(executorPreference: loop.loop) { [loop = loop.loop] in
      let first = loop.isCurrent
      await Task.yield()
      let other = await Task.detached { loop.isCurrent }.value
      return [first, other, loop.isCurrent]
    }.value
    #expect(places == [true, false, true])
    #expect(!loop.loop.isCurrent)
  }

  /// A task that goes on without end: each job passes the next one.
  @Test func `tasks that follow each other without end don't hold up descriptors and timers`() async throws {
    let loop = try TestLoop()
    let isStopped = Guarded(false)
    let task = Task(executorPreference: loop.loop) {
      while !isStopped.withLock({ $0 }) { await Task.yield() }
    }
    let (one, other) = try unixPair()
    let reading = ReadingUser()
    let socket = try await loop.watch(one, reading)
    try other.writeBlocking([1, 2, 3])
    let read = await reading.report.awaited { $0.bytes.count == 3 }
    #expect(read.bytes == [1, 2, 3])
    let hasFired = Guarded(false)
    try await loop.run { [loop = loop.loop] in
      LoopTimer(on: loop) { hasFired.withLock { $0 = true } }.set(after: .milliseconds(1))
    }
    #expect(await hasFired.awaited { $0 })
    isStopped.withLock { $0 = true }
    await task.value
    try await loop.run { socket.value.close() }
  }

  // MARK: Ends

  @Test func `a loop carries out what it was passed before its end, and refuses what comes later`() async throws {
    let loop = try EventLoop(named: "test-ending")
    let count = Guarded(0)
    for _ in 0..<1000 { #expect(loop.post { count.withLock { $0 += 1 } }) }
    loop.stop()
    await onNewThread { loop.waitUntilStopped() }
    #expect(count.withLock { $0 } == 1000)
    #expect(!loop.post {})
  }

  @Test func `at its end a loop closes sockets, tells their users and cancels timers`() async throws {
    let loop = try EventLoop(named: "test-ending")
    let user = IdleUser()
    let hasFired = Guarded(false)
    let (timer, peer) = (OnLoop<LoopTimer?>(nil), OnLoop<Socket?>(nil))
    loop.post {
      guard let (one, other) = try? unixPair() else { return }
      peer.value = other
      _ = try? WatchedSocket(one, on: loop, for: user)
      timer.value = LoopTimer(on: loop) { hasFired.withLock { $0 = true } }
      timer.value?.set(after: .seconds(3600))
    }
    loop.stop()
    await onNewThread { loop.waitUntilStopped() }
    #expect(user.isEnded.withLock { $0 })
    #expect(timer.value?.isSet == false)
    #expect(loop.counts == (0, 0))
    #expect(try peer.value?.readBlocking() == [])
    #expect(!hasFired.withLock { $0 })
  }

  @Test func `a task that outlives its loop goes on`() async throws {
    let loop = try EventLoop(named: "test-ending")
    let waiting = Guarded<CheckedContinuation<Void, Never>?>(nil)
    let task = Task(executorPreference: loop) { () -> Bool in
      await withCheckedContinuation { continuation in waiting.withLock { $0 = continuation } }
      return loop.isCurrent
    }
    _ = await eventually { waiting.withLock { $0 != nil } }
    let continuation = waiting.withLock { $0.take() }
    loop.stop()
    await onNewThread { loop.waitUntilStopped() }
    continuation?.resume()
    #expect(await task.value)
  }

  /// The timer would never fire, and keep itself and the loop for ever.
  @Test func `a timer that is set after the loop's end stays unset`() async throws {
    let loop = try EventLoop(named: "test-ending")
    loop.stop()
    await onNewThread { loop.waitUntilStopped() }
    let isSet = await Task(executorPreference: loop) {
      let timer = LoopTimer(on: loop) {}
      timer.set(after: .zero)
      return timer.isSet
    }.value
    #expect(!isSet)
    #expect(loop.counts.timers == 0)
  }

  /// Something whose end leads back to the loop.
  private final class Clean {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
    deinit { body() }
  }

  @Test func `a timer's end may set other timers at the loop's end`() async throws {
    let loop = try EventLoop(named: "test-ending")
    let ends = Guarded(0)
    loop.post {
      let other = LoopTimer(on: loop) {}
      let clean = Clean {
        other.set(after: .zero)
        ends.withLock { $0 += 1 }
      }
      LoopTimer(on: loop) { withExtendedLifetime(clean) {} }.set(after: .seconds(3600))
    }
    loop.stop()
    await onNewThread { loop.waitUntilStopped() }
    #expect(await ends.awaited { $0 > 0 } == 1)
  }

  @Test func `loops leave neither descriptors nor threads behind`() throws {
    let probe = try run(program: builtBinary("formstream-loop-probe"), ["loops", "50"])
    #expect(probe.output == "0 descriptors and 0 threads left, 0 descriptors inheritable\n", "\(probe.stderr)")
  }

  // MARK: Descriptors

  /// Both descriptors are ready in the same turn; whoever comes first removes the other one.
  private final class RemovingHandler: EventHandler {
    let loop: EventLoop
    var others: [WatchPlace] = []
    var calls = 0

    init(_ loop: EventLoop) { self.loop = loop }

    func isReady(_ events: Readiness) {
      calls += 1
      for place in others { loop.forget(place) }
    }

    func loopEnds() {}
  }

  @Test func `a descriptor that was removed in the same turn is not reported, nor mistaken for its successor`() async throws {
    let loop = try TestLoop()
    let pairs = try (0..<3).map { _ in try unixPair() }
    for (_, other) in pairs { try other.writeBlocking([1]) }
    let handlers = OnLoop<[RemovingHandler]>([])
    try await loop.run { [loop = loop.loop] in
      for _ in 0..<3 { handlers.value.append(RemovingHandler(loop)) }
      let first = try loop.watch(pairs[0].0.number, handlers.value[0])
      let second = try loop.watch(pairs[1].0.number, handlers.value[1])
      handlers.value[0].others = [second]
      handlers.value[1].others = [first]
    }
    // Both are ready, and a turn that reports them has come between these two closures.
    #expect(await eventuallyOnLoop(loop) { handlers.value[0].calls + handlers.value[1].calls > 0 })
    let (counts, successor) = try await loop.run { [loop = loop.loop] in
      let place = try loop.watch(pairs[2].0.number, handlers.value[2])
      return (handlers.value.map(\.calls), place)
    }
    #expect(counts == [1, 0, 0])
    #expect(await eventuallyOnLoop(loop) { handlers.value[2].calls > 0 })
    try await loop.run { [loop = loop.loop] in
      loop.forget(successor)
      // Twice does nothing.
      loop.forget(successor)
      #expect(loop.counts.descriptors == 1)
    }
  }

  /// The first to be told removes the other one, and another descriptor gets its place.
  private final class ReplacingHandler: EventHandler {
    let loop: EventLoop
    var other: WatchPlace?
    let successor: Socket
    let heir: ReplacingHandler?
    var seen: Readiness = []

    init(_ loop: EventLoop, _ successor: Socket, _ heir: ReplacingHandler?) {
      (self.loop, self.successor, self.heir) = (loop, successor, heir)
    }

    func isReady(_ events: Readiness) {
      seen.formUnion(events)
      guard let other = other.take(), let heir, heir.seen.isEmpty else { return }
      loop.forget(other)
      _ = try? loop.watch(successor.number, heir)
    }

    func loopEnds() {}
  }

  @Test func `what was found for a removed descriptor is not reported to the next one in its place`() async throws {
    let loop = try TestLoop()
    let pairs = try (0..<3).map { _ in try unixPair() }
    for (_, other) in pairs.prefix(2) { try other.writeBlocking([1]) }
    let handlers = OnLoop<[ReplacingHandler]>([])
    try await loop.run { [loop = loop.loop] in
      let heir = ReplacingHandler(loop, pairs[2].0, nil)
      let (first, second) = (ReplacingHandler(loop, pairs[2].0, heir), ReplacingHandler(loop, pairs[2].0, heir))
      first.other = try loop.watch(pairs[1].0.number, second)
      second.other = try loop.watch(pairs[0].0.number, first)
      handlers.value = [first, second, heir]
    }
    #expect(await eventuallyOnLoop(loop) { !handlers.value[2].seen.isEmpty })
    let seen = try await loop.run { handlers.value.map(\.seen) }
    // It can be written to, and has nothing to read.
    #expect(seen[2] == .writable)
    #expect(seen[0].isEmpty != seen[1].isEmpty)
  }

  private final class EndingHandler: EventHandler {
    let clean: Clean
    init(_ clean: Clean) { self.clean = clean }
    func isReady(_ events: Readiness) {}
    func loopEnds() {}
  }

  @Test func `a handler's end may remove another handler`() async throws {
    let loop = try TestLoop()
    let (one, other) = try unixPair()
    let count = try await loop.run { [loop = loop.loop] in
      let second = try loop.watch(other.number, RemovingHandler(loop))
      let first = try loop.watch(one.number, EndingHandler(Clean { loop.forget(second) }))
      loop.forget(first)
      return loop.counts.descriptors
    }
    #expect(count == 0)
  }

  @Test func `a file can't be watched, and leaves no place behind`() async throws {
    let loop = try TestLoop()
    let file = open("/etc/passwd", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    let number = try await loop.run { [loop = loop.loop] () -> Int32 in
      do throws(SystemError) {
        _ = try loop.watch(file, RemovingHandler(loop))
        return 0
      } catch {
        return loop.counts.descriptors == 0 ? error.number : -1
      }
    }
    #expect(number == EPERM)
  }
}
