import FormStreamPlatform

/// Finds the addresses of hosts, and keeps them for a while.
///
/// The system's name service blocks, and can't be interrupted. So it is asked on threads of its own, of which there are a limited number,
/// about one name once at a time. A lookup that nobody waits for any more keeps its thread until the system answers; its answer is kept
/// for the next who asks.
package final class Resolver: Sendable {
  /// The families of addresses that are wanted.
  package enum Families: Hashable, Sendable { case any, ipv4, ipv6 }

  /// What the system is asked.
  package struct Query: Hashable, Sendable {
    package let name: String
    package let families: Families
  }

  package typealias Answer = Result<[SocketAddress], LookupFailure>

  /// One who waits for an answer.
  ///
  /// Sending is unchecked because `completion` belongs to the thread of `loop`.
  package final class Waiter: @unchecked Sendable {
    fileprivate let loop: EventLoop
    fileprivate let query: Query
    fileprivate let port: UInt16
    private let resolver: Resolver
    private var completion: ((Answer) -> Void)?

    fileprivate init(
      _ query: Query, _ port: UInt16, of resolver: Resolver, on loop: EventLoop, _ completion: @escaping (Answer) -> Void
    ) {
      (self.query, self.port, self.resolver, self.loop, self.completion) = (query, port, resolver, loop, completion)
    }

    /// Waits no longer: the completion is not called. Must be called on the loop's thread.
    package func cancel() {
      guard completion.take() != nil else { return }
      resolver.abandon(self)
    }

    fileprivate func complete(_ answer: Answer) {
      loop.post { [self] in completion.take()?(answer.map { $0.map { $0.at(port: port) } }) }
    }
  }

  /// The answer to a question: it is known at once, or somebody waits for it.
  package enum Finding {
    case known(Answer)
    case awaited(Waiter)
  }

  /// What one lookup is for.
  private struct Lookup {
    var waiters: [Waiter] = []
    var isRunning = false
  }

  private struct State {
    var kept: [Query: (addresses: [SocketAddress], until: MonotonicTime)] = [:]
    var lookups: [Query: Lookup] = [:]
    /// The names whose lookups wait for a thread, first come first served.
    var queue: [Query] = []
    var threads = 0
  }

  /// How many names' addresses are kept at most.
  static let maximumKept = 1024

  private let overrides: [HostOverride]
  private let maximumThreads: Int
  private let keepingTime: Duration
  private let clock: @Sendable () -> MonotonicTime
  private let ask: @Sendable (Query) -> Answer
  private let state = Guarded(State())

  /// - Parameters:
  ///   - overrides: the addresses to use in place of others. The last one for a host and port counts.
  ///   - maximumThreads: how many names are looked up at the same time.
  ///   - keepingTime: how long addresses are kept.
  package init(
    overrides: [HostOverride] = [], maximumThreads: Int = 32, keepingTime: Duration = .seconds(60),
    clock: @escaping @Sendable () -> MonotonicTime = { .now }, ask: (@Sendable (Query) -> Answer)? = nil
  ) {
    (self.overrides, self.maximumThreads, self.keepingTime) = (overrides, max(1, maximumThreads), keepingTime)
    (self.clock, self.ask) = (clock, ask ?? systemAddresses)
  }

  /// Finds the addresses of a host, each with the port. A numeric address is its own.
  ///
  /// - Parameter completion: called on the loop's thread if the answer is not known at once.
  package func find(
    _ host: String, port: UInt16, _ families: Families, on loop: EventLoop, completion: @escaping (Answer) -> Void
  ) -> Finding {
    if let known = known(Self.key(host), port: port, families) { return .known(known) }
    // A dot at the end stays: without it, the system may look for the name in the domains of this machine.
    let query = Query(name: host.lowercased(), families: families)
    let waiter = Waiter(query, port, of: self, on: loop, completion)
    let (kept, startsThread) = state.withLock { state -> ([SocketAddress]?, Bool) in
      if let kept = state.kept[query] {
        if kept.until > clock() { return (kept.addresses, false) }
        state.kept[query] = nil
      }
      let isNew = state.lookups[query] == nil
      state.lookups[query, default: Lookup()].waiters.append(waiter)
      guard isNew else { return (nil, false) }
      state.queue.append(query)
      guard state.threads < maximumThreads else { return (nil, false) }
      state.threads += 1
      return (nil, true)
    }
    if let kept { return .known(.success(kept.map { $0.at(port: port) })) }
    if startsThread, !startThread("formstream-names", { [self] in serve() }) { noteMissingThread() }
    return .awaited(waiter)
  }

  /// Drops what is known about a host, because none of its addresses works.
  package func forget(_ host: String) {
    let name = host.lowercased()
    state.withLock { state in
      for families in [Families.any, .ipv4, .ipv6] { state.kept[Query(name: name, families: families)] = nil }
    }
  }

  /// How many threads there are, how many names wait for one, and how many names' addresses are kept.
  package var counts: (threads: Int, queue: Int, kept: Int) {
    state.withLock { ($0.threads, $0.queue.count, $0.kept.count) }
  }

  /// The form of a name in which it is compared with those that need no name service: in lower case, without the dot at its end.
  static func key(_ name: String) -> String {
    let name = name.lowercased()
    return name.hasSuffix(".") && name.utf8.count > 1 ? String(name.dropLast()) : name
  }

  /// What needs no name service.
  private func known(_ name: String, port: UInt16, _ families: Families) -> Answer? {
    let addresses: [SocketAddress]
    if let override = overrides.last(where: { $0.name == name && $0.port == port })
      ?? overrides.last(where: { $0.name == nil && $0.port == port })
    {
      addresses = override.addresses
    } else if let address = SocketAddress(name, port: port) {
      addresses = [address]
    } else if name == "localhost" || name.hasSuffix(".localhost") {
      // RFC 6761 §6.3: "name resolution APIs … SHOULD always return the IP loopback address". Credentials may go to these names over
      // http, so no name server may say where they are.
      addresses = ["127.0.0.1", "::1"].compactMap { SocketAddress($0, port: port) }
    } else {
      return nil
    }
    let wanted = addresses.filter { families.contain($0.family) }
    return wanted.isEmpty ? .failure(.unknown(name)) : .success(wanted)
  }

  private func abandon(_ waiter: Waiter) {
    state.withLock { state in
      guard var lookup = state.lookups[waiter.query] else { return }
      lookup.waiters.removeAll { $0 === waiter }
      let isInVain = lookup.waiters.isEmpty && !lookup.isRunning
      state.lookups[waiter.query] = isInVain ? nil : lookup
      if isInVain { state.queue.removeAll { $0 == waiter.query } }
    }
  }

  /// Looks names up until none waits.
  private func serve() {
    while let query = next() { finish(query, ask(query)) }
  }

  private func next() -> Query? {
    state.withLock { state in
      guard !state.queue.isEmpty else {
        state.threads -= 1
        return nil
      }
      let query = state.queue.removeFirst()
      state.lookups[query]?.isRunning = true
      return query
    }
  }

  private func finish(_ query: Query, _ answer: Answer) {
    let waiters = state.withLock { state in
      if case .success(let addresses) = answer { keep(addresses, for: query, &state) }
      return state.lookups.removeValue(forKey: query)?.waiters ?? []
    }
    for waiter in waiters { waiter.complete(answer) }
  }

  private func keep(_ addresses: [SocketAddress], for query: Query, _ state: inout State) {
    let now = clock()
    if state.kept.count >= Self.maximumKept { state.kept = state.kept.filter { $0.value.until > now } }
    // If that many names are still good, all are looked up again.
    if state.kept.count >= Self.maximumKept { state.kept.removeAll() }
    state.kept[query] = (addresses, now + keepingTime)
  }

  /// Lets the names that wait fail if there is no thread at all.
  private func noteMissingThread() {
    let abandoned = state.withLock { state -> [(Query, Lookup)] in
      state.threads -= 1
      guard state.threads == 0 else { return [] }
      defer { state.queue.removeAll() }
      return state.queue.compactMap { query in state.lookups.removeValue(forKey: query).map { (query, $0) } }
    }
    for (query, lookup) in abandoned {
      for waiter in lookup.waiters { waiter.complete(.failure(.noThread(query.name))) }
    }
  }
}

extension Resolver.Families {
  func contain(_ family: SocketAddress.Family) -> Bool {
    switch (self, family) {
    case (.any, _), (.ipv4, .ipv4), (.ipv6, .ipv6): true
    default: false
    }
  }
}
