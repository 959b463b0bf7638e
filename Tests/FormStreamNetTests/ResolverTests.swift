import FormStreamNet
import FormStreamPlatform
import FormStreamTestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct ResolverTests {
  /// A name service that the test controls.
  private final class NameService: Sendable {
    let asked = Guarded<[String]>([])
    let answers = Guarded<[String: Resolver.Answer]>([:])
    /// How many lookups block at present.
    let blocked = Guarded(0)
    let gate: Gate

    init(isOpen: Bool = true) throws {
      gate = try Gate()
      if isOpen { gate.open() }
    }

    func ask(_ query: Resolver.Query) -> Resolver.Answer {
      asked.withLock { $0.append(query.name) }
      blocked.withLock { $0 += 1 }
      _ = gate.wait()
      blocked.withLock { $0 -= 1 }
      let known = answers.withLock { $0[query.name] }
      if let known { return known }
      return SocketAddress("192.0.2.7", port: 0).map { .success([$0]) }
        ?? .failure(LookupFailure(name: query.name, isTemporary: false, reason: ""))
    }
  }

  /// Finds a host, and waits for the answer.
  private func find(
    _ resolver: Resolver, _ host: String, port: UInt16 = 80, _ families: Resolver.Families = .any, on loop: TestLoop
  ) async throws -> Result<[String], LookupFailure> {
    let answer = Guarded<Resolver.Answer?>(nil)
    try await loop.run { [loop = loop.loop] in
      let finding = resolver.find(host, port: port, families, on: loop) { result in
        let isOnLoop = loop.isCurrent
        answer.withLock { if isOnLoop { $0 = result } }
      }
      if case .known(let known) = finding { answer.withLock { $0 = known } }
    }
    return (await answer.awaited { $0 != nil } ?? .success([])).map { $0.map(\.description) }
  }

  @Test(arguments: [
    ("localhost", Resolver.Families.any, ["127.0.0.1:80", "[::1]:80"]),
    ("LocalHost.", .any, ["127.0.0.1:80", "[::1]:80"]),
    ("a.b.localhost", .ipv4, ["127.0.0.1:80"]),
    ("localhost", .ipv6, ["[::1]:80"]),
    ("127.0.0.9", .any, ["127.0.0.9:80"]),
    ("::1", .any, ["[::1]:80"]),
  ])
  func `names and addresses of this machine are never looked up`(
    _ host: String, _ families: Resolver.Families, _ expected: [String]
  ) async throws {
    let (loop, service) = (try TestLoop(), try NameService())
    let resolver = Resolver(ask: service.ask)
    #expect(try await find(resolver, host, families, on: loop) == .success(expected))
    #expect(service.asked.withLock { $0 } == [])
  }

  @Test func `names that only look like localhost are looked up`() async throws {
    let (loop, service) = (try TestLoop(), try NameService())
    let resolver = Resolver(ask: service.ask)
    for name in ["notlocalhost", "localhost.example", "localhost-a", "xlocalhost"] {
      #expect(try await find(resolver, name, on: loop) == .success(["192.0.2.7:80"]))
    }
    #expect(service.asked.withLock { $0 } == ["notlocalhost", "localhost.example", "localhost-a", "xlocalhost"])
  }

  /// Without the dot, the system may look in the domains of this machine.
  @Test func `a dot at the end of a name is asked for`() async throws {
    let (loop, service) = (try TestLoop(), try NameService())
    let resolver = Resolver(ask: service.ask)
    for name in ["Internal.", "internal"] {
      #expect(try await find(resolver, name, on: loop) == .success(["192.0.2.7:80"]))
    }
    #expect(service.asked.withLock { $0 } == ["internal.", "internal"])
  }

  @Test func `an address of the other family is not found`() async throws {
    let (loop, service) = (try TestLoop(), try NameService())
    let resolver = Resolver(ask: service.ask)
    guard case .failure(let failure) = try await find(resolver, "127.0.0.1", .ipv6, on: loop) else {
      Issue.record("It was found.")
      return
    }
    #expect(failure.name == "127.0.0.1" && !failure.isTemporary && !failure.reason.isEmpty)
    #expect(service.asked.withLock { $0 } == [])
  }

  // MARK: Addresses in place of others

  @Test func `given addresses are used in place of others, the last one first`() async throws {
    let (loop, service) = (try TestLoop(), try NameService())
    let overrides = [
      "a.example:80:10.0.0.1", "*:443:10.0.0.2", "+A.example:80:10.0.0.3,[::5],::6", "b.example:443:10.0.0.4",
      "10.9.9.9:80:10.0.0.5",
    ]
    let resolver = Resolver(overrides: overrides.compactMap { HostOverride($0) }, ask: service.ask)
    #expect(try await find(resolver, "a.example", on: loop) == .success(["10.0.0.3:80", "[::5]:80", "[::6]:80"]))
    #expect(try await find(resolver, "A.EXAMPLE.", .ipv6, on: loop) == .success(["[::5]:80", "[::6]:80"]))
    #expect(try await find(resolver, "b.example", port: 443, on: loop) == .success(["10.0.0.4:443"]))
    #expect(try await find(resolver, "c.example", port: 443, on: loop) == .success(["10.0.0.2:443"]))
    #expect(try await find(resolver, "localhost", port: 443, on: loop) == .success(["10.0.0.2:443"]))
    #expect(try await find(resolver, "10.9.9.9", on: loop) == .success(["10.0.0.5:80"]))
    #expect(service.asked.withLock { $0 } == [])
    #expect(try await find(resolver, "b.example", port: 80, on: loop) == .success(["192.0.2.7:80"]))
  }

  @Test(arguments: [
    "", "a", "a:80", ":80:1.2.3.4", "a:0:1.2.3.4", "a:65536:1.2.3.4", "a:+1:1.2.3.4", "a:80:", "a:80:b.example",
    "a:80:1.2.3.4,",
    "[::1:80:1.2.3.4", "[]:80:1.2.3.4", "[::1]80:1.2.3.4", "a:80:[::1", "+:80:1.2.3.4",
  ])
  func `a text of another form gives no addresses`(_ text: String) {
    #expect(HostOverride(text) == nil)
  }

  // MARK: What is kept

  @Test func `addresses are kept for a while, for each family, with any port`() async throws {
    let (loop, service) = (try TestLoop(), try NameService())
    let now = Guarded(MonotonicTime(nanoseconds: 0))
    let resolver = Resolver(clock: { now.withLock { $0 } }, ask: service.ask)
    #expect(try await find(resolver, "a.example", port: 1, on: loop) == .success(["192.0.2.7:1"]))
    #expect(try await find(resolver, "A.example", port: 2, on: loop) == .success(["192.0.2.7:2"]))
    #expect(service.asked.withLock { $0.count } == 1)
    _ = try await find(resolver, "a.example", .ipv4, on: loop)
    #expect(service.asked.withLock { $0.count } == 2)
    now.withLock { $0 = MonotonicTime(nanoseconds: 59_999_999_999) }
    _ = try await find(resolver, "a.example", on: loop)
    #expect(service.asked.withLock { $0.count } == 2)
    now.withLock { $0 = MonotonicTime(nanoseconds: 60_000_000_000) }
    _ = try await find(resolver, "a.example", on: loop)
    #expect(service.asked.withLock { $0.count } == 3)
    // None of the addresses has worked.
    resolver.forget("A.EXAMPLE")
    #expect(resolver.counts.kept == 0)
    _ = try await find(resolver, "a.example", on: loop)
    #expect(service.asked.withLock { $0.count } == 4)
  }

  @Test func `failures are not kept`() async throws {
    let (loop, service) = (try TestLoop(), try NameService())
    let failure = LookupFailure(name: "a.example", isTemporary: true, reason: "Temporary failure")
    service.answers.withLock { $0["a.example"] = .failure(failure) }
    let resolver = Resolver(ask: service.ask)
    #expect(try await find(resolver, "a.example", on: loop) == .failure(failure))
    service.answers.withLock { $0 = [:] }
    #expect(try await find(resolver, "a.example", on: loop) == .success(["192.0.2.7:80"]))
  }

  @Test func `there is a limit to what is kept`() async throws {
    let (loop, service) = (try TestLoop(), try NameService())
    let resolver = Resolver(ask: service.ask)
    for number in 0..<1100 { _ = try await find(resolver, "host-\(number)", on: loop) }
    #expect(resolver.counts.kept <= 1024)
  }

  // MARK: Threads

  @Test func `one name is looked up once at a time, for all who ask`() async throws {
    let (loop, service) = (try TestLoop(), try NameService(isOpen: false))
    let resolver = Resolver(ask: service.ask)
    let answers = Guarded(0)
    for _ in 0..<100 {
      try await loop.run { [loop = loop.loop] in
        _ = resolver.find("a.example", port: 80, .any, on: loop) { _ in answers.withLock { $0 += 1 } }
      }
    }
    _ = await service.blocked.awaited { $0 == 1 }
    #expect(resolver.counts.threads == 1)
    service.gate.open()
    #expect(await answers.awaited { $0 == 100 } == 100)
    #expect(service.asked.withLock { $0 } == ["a.example"])
  }

  /// Asks for a host on the loop, and returns who waits for the answer.
  private func ask(
    _ resolver: Resolver, _ host: String, port: UInt16 = 80, on loop: TestLoop,
    _ completion: @escaping @Sendable (Resolver.Answer) -> Void
  ) async throws -> Resolver.Waiter {
    let waiter: Resolver.Waiter? = try await loop.run { [loop = loop.loop] in
      let finding = resolver.find(host, port: port, .any, on: loop, completion: completion)
      if case .awaited(let waiter) = finding { return waiter }
      return nil
    }
    return try #require(waiter)
  }

  @Test func `a thousand abandoned lookups use up 32 threads if they block, and nothing otherwise`() async throws {
    let (loop, service) = (try TestLoop(), try NameService(isOpen: false))
    let resolver = Resolver(ask: service.ask)
    let (abandoned, answers) = (Guarded(0), Guarded(0))
    var waiters: [Resolver.Waiter] = []
    for number in 0..<1000 {
      waiters.append(
        try await ask(resolver, "host-\(number).example", on: loop) { _ in abandoned.withLock { $0 += 1 } })
    }
    // The system can't be interrupted once it has been asked.
    _ = await service.blocked.awaited { $0 == 32 }
    #expect(resolver.counts.queue == 968)
    try await loop.run { [waiters] in for waiter in waiters { waiter.cancel() } }
    #expect(resolver.counts.threads == 32 && resolver.counts.queue == 0)
    // Those who have not given up wait for the first thread that is free.
    for number in 0..<10 {
      _ = try await ask(resolver, "waiting-\(number).example", on: loop) { _ in answers.withLock { $0 += 1 } }
    }
    #expect(resolver.counts.threads == 32 && resolver.counts.queue == 10)
    service.gate.open()
    #expect(await answers.awaited { $0 == 10 } == 10)
    #expect(await eventually { resolver.counts.threads == 0 })
    #expect(service.asked.withLock { $0.count } == 42)
    #expect(answers.withLock { $0 } == 10 && abandoned.withLock { $0 } == 0)
  }

  @Test func `who comes after an abandoned lookup gets its answer`() async throws {
    let (loop, service) = (try TestLoop(), try NameService(isOpen: false))
    let resolver = Resolver(ask: service.ask)
    let cancelled = Guarded(0)
    let waiter = try await ask(resolver, "a.example", port: 1, on: loop) { _ in cancelled.withLock { $0 += 1 } }
    _ = await service.blocked.awaited { $0 == 1 }
    try await loop.run {
      waiter.cancel()
      // Twice does nothing.
      waiter.cancel()
    }
    let second = Guarded<Resolver.Answer?>(nil)
    _ = try await ask(resolver, "a.example", port: 2, on: loop) { answer in second.withLock { $0 = answer } }
    service.gate.open()
    let answer = await second.awaited { $0 != nil }
    #expect(answer == .success([try address("192.0.2.7", port: 2)]))
    #expect(service.asked.withLock { $0 } == ["a.example"])
    #expect(cancelled.withLock { $0 } == 0)
  }

  // MARK: The system

  /// The C library itself knows these, without a name server.
  @Test func `the system's answers and failures become values`() async throws {
    let loop = try TestLoop()
    let resolver = Resolver()
    #expect(try await find(resolver, "127.1", on: loop) == .success(["127.0.0.1:80"]))
    for name in ["a..b", "a\0.example"] {
      guard case .failure(let failure) = try await find(resolver, name, on: loop) else {
        Issue.record("It was found.")
        continue
      }
      #expect(failure.name == name && !failure.isTemporary && !failure.reason.isEmpty)
    }
  }
}
