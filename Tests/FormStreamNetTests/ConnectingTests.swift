import FormStreamNet
import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(2))) struct ConnectingTests {
  /// What became of a connection.
  private struct Outcome: Sendable {
    var peer: String?
    var local: SocketAddress?
    var failure: ConnectFailure?
    var calls = 0
  }

  /// One race, which stays where it belongs: on the loop's thread.
  private final class Race: @unchecked Sendable {
    var connecting: Connecting?
    var socket: WatchedSocket?
    let outcome = Guarded(Outcome())
  }

  /// Begins a connection to whichever address answers first.
  private func race(
    to addresses: [SocketAddress], on loop: TestLoop, within time: Duration = .seconds(60),
    _ change: @escaping @Sendable (inout Connecting.Settings) -> Void = { _ in }
  ) async throws -> Race {
    let race = Race()
    try await loop.run { [loop = loop.loop] in
      var settings = Connecting.Settings()
      change(&settings)
      let connecting = Connecting(to: addresses, on: loop, settings) { [race] result in
        race.outcome.withLock { outcome in
          outcome.calls += 1
          switch result {
          case .success(let socket):
            race.socket = socket
            outcome.peer = (try? socket.peerAddress)?.description ?? "?"
            outcome.local = try? socket.localAddress
          case .failure(let failure): outcome.failure = failure
          }
        }
      }
      race.connecting = connecting
      connecting.start(within: time)
      // Nobody expects the result inside of the call.
      race.outcome.withLock { if $0.calls > 0 { $0.calls += 100 } }
    }
    return race
  }

  private func end(_ race: Race, _ loop: TestLoop) async throws {
    try await loop.run { race.socket.take()?.close() }
  }

  /// An address that does not answer, because as many connections wait there as may, and the owner of the address.
  private final class SilentServer {
    let listener: Listener
    private var waiting: [Socket] = []

    init() throws {
      listener = try Listener(at: FormStreamNetTests.address("127.0.0.1"), backlog: 0)
      // Linux has room for one more than the backlog.
      for _ in 0..<2 {
        let socket = try Socket(.ipv4)
        _ = try socket.connect(to: listener.address)
        if waiting.isEmpty { wait(for: POLLOUT, on: socket.number) }
        waiting.append(socket)
      }
    }
  }

  @Test func `a connection is made, without delay for small writes`() async throws {
    let loop = try TestLoop()
    let listener = try Listener(at: address("127.0.0.1"))
    let race = try await race(to: [listener.address], on: loop) { $0.keepAlive = .seconds(60) }
    let outcome = await race.outcome.awaited { $0.calls > 0 }
    #expect(outcome.calls == 1 && outcome.peer == listener.address.description)
    let (accepted, from) = try #require(try listener.accept())
    #expect(outcome.local == from)
    // The socket has been reported as ready before it got a user.
    let sent = try await loop.run { try [UInt8(1), 2].withUnsafeBytes { try race.socket?.write($0) } }
    #expect(sent == 2)
    #expect(try accepted.readBlocking(2) == [1, 2])
    let timers: Int = try await loop.run { [loop = loop.loop] in loop.counts.timers }
    #expect(timers == 0)
    try await end(race, loop)
  }

  @Test func `each address that failed is named with its error, in the order of the attempts`() async throws {
    let loop = try TestLoop()
    let closed = try (0..<2).map { _ in try ReservedPort() }
    let addresses = try closed.map { try address("127.0.0.1", port: $0.number) } + [address("::1", port: closed[0].number)]
    let nobody = try abstractAddress()
    let race = try await race(to: addresses + [nobody], on: loop)
    let failure = try #require(await race.outcome.awaited { $0.calls > 0 }.failure)
    // RFC 8305 §4: the families alternate.
    #expect(failure.addresses.map(\.address) == [addresses[0], addresses[2], addresses[1], nobody])
    #expect(failure.addresses[0].error == .connectionRefused && failure.addresses[3].error == .connectionRefused)
    #expect(!failure.isTimedOut)
    #expect(failure.description.hasPrefix("\(addresses[0]): Connection refused; [::1]:\(closed[0].number): "))
    #expect(race.outcome.withLock { $0.calls } == 1)
  }

  @Test func `no address at all is a failure`() async throws {
    let loop = try TestLoop()
    let race = try await race(to: [], on: loop)
    let outcome = await race.outcome.awaited { $0.calls > 0 }
    #expect(outcome.calls == 1 && outcome.failure?.addresses == [] && outcome.failure?.isTimedOut == false)
  }

  /// RFC 8305 §5: after a failure, nothing is waited for.
  @Test func `after a failure the next address is tried at once`() async throws {
    let loop = try TestLoop()
    let (closed, listener) = (try ReservedPort(), try Listener(at: address("127.0.0.1")))
    let race = try await race(
      to: [address("127.0.0.1", port: closed.number), listener.address], on: loop, within: .seconds(3600)
    ) {
      $0.attemptDelay = .seconds(3600)
    }
    #expect(await race.outcome.awaited { $0.calls > 0 }.peer == listener.address.description)
    try await end(race, loop)
  }

  @Test func `an address that doesn't answer holds up the next one for the delay only, and is given up`() async throws {
    let loop = try TestLoop()
    let (silent, listener) = (try SilentServer(), try Listener(at: address("127.0.0.1")))
    let race = try await race(to: [silent.listener.address, listener.address], on: loop, within: .seconds(3600)) {
      $0.attemptDelay = .milliseconds(5)
    }
    #expect(await race.outcome.awaited { $0.calls > 0 }.peer == listener.address.description)
    let counts = try await loop.run { [loop = loop.loop] in loop.counts }
    #expect(counts == (1, 0))
    try await end(race, loop)
  }

  @Test func `the time limit ends the attempts, and tells which addresses have not answered`() async throws {
    let loop = try TestLoop()
    let (silent, closed) = (try SilentServer(), try ReservedPort())
    let refusing = try address("127.0.0.1", port: closed.number)
    let race = try await race(to: [refusing, silent.listener.address], on: loop, within: .milliseconds(20))
    let failure = try #require(await race.outcome.awaited { $0.calls > 0 }.failure)
    #expect(failure.isTimedOut)
    #expect(failure.addresses.map(\.error) == [.connectionRefused, nil])
    #expect(failure.description == "\(refusing): Connection refused; \(silent.listener.address): no response")
    let counts = try await loop.run { [loop = loop.loop] in loop.counts }
    #expect(counts == (0, 0))
  }

  /// The limit is over a moment after the end, and a timer that still were set would report it.
  @Test func `a cancelled attempt reports nothing, and leaves nothing behind`() async throws {
    let loop = try TestLoop()
    let silent = try SilentServer()
    let place = silent.listener.address
    let (calls, later) = (Guarded(0), Guarded(false))
    let counts = try await loop.run { [loop = loop.loop] in
      let connecting = Connecting(to: [place], on: loop) { _ in calls.withLock { $0 += 1 } }
      connecting.start(within: .milliseconds(1))
      let before = loop.counts
      connecting.cancel()
      LoopTimer(on: loop) { later.withLock { $0 = true } }.set(after: .milliseconds(5))
      return [before.descriptors, before.timers, loop.counts.descriptors, loop.counts.timers]
    }
    #expect(counts == [1, 1, 0, 1])
    _ = await later.awaited { $0 }
    #expect(calls.withLock { $0 } == 0)
  }

  /// The result is known inside of `start`, and is on its way when the attempt is cancelled.
  @Test func `a connection that was made at once is closed if it is cancelled in the same turn`() async throws {
    let loop = try TestLoop()
    let listener = try Listener(at: abstractAddress())
    let calls = Guarded(0)
    try await loop.run { [loop = loop.loop] in
      let connecting = Connecting(to: [listener.address], on: loop) { _ in calls.withLock { $0 += 1 } }
      connecting.start(within: .seconds(60))
      connecting.cancel()
    }
    let (accepted, _) = try #require(try listener.accept())
    #expect(try accepted.readBlocking() == [])
    let counts = try await loop.run { [loop = loop.loop] in loop.counts }
    #expect(counts == (0, 0) && calls.withLock { $0 } == 0)
  }

  @Test func `the end of the loop ends an attempt without a report`() async throws {
    let silent = try SilentServer()
    let loop = try TestLoop()
    let race = try await race(to: [silent.listener.address], on: loop)
    loop.loop.stop()
    await onNewThread { loop.loop.waitUntilStopped() }
    #expect(race.outcome.withLock { $0.calls } == 0)
  }

  /// What is kept by a completion.
  private final class Held: Sendable {
    let isReleased: Guarded<Bool>

    init(_ isReleased: Guarded<Bool>) { self.isReleased = isReleased }

    deinit { isReleased.withLock { $0 = true } }
  }

  private enum Stage: CaseIterable {
    case silent, waitingForRoom, connected, failed
  }

  /// Some attempts have no socket when the loop ends, and would never be released. Others begin only then.
  @Test(arguments: [false, true], Stage.allCases)
  private func `the end of the loop releases an attempt, whatever it waits for`(_ isLate: Bool, _ stage: Stage) async throws {
    let loop = try EventLoop(named: "test-ending")
    let (silent, full, free) = (
      try SilentServer(), try Listener(at: abstractAddress(), backlog: 0), try Listener(at: abstractAddress())
    )
    let first = try Socket(.unix)
    _ = try first.connect(to: full.address)
    let address =
      switch stage {
      case .silent: silent.listener.address
      case .waitingForRoom: full.address
      case .connected: free.address
      case .failed: try abstractAddress()
      }
    let (isReleased, calls) = (Guarded(false), Guarded(0))
    let begin: @Sendable () -> Void = {
      let held = Held(isReleased)
      let connecting = Connecting(to: [address], on: loop) { _ in
        withExtendedLifetime(held) {}
        calls.withLock { $0 += 1 }
      }
      connecting.start(within: .seconds(3600))
    }
    if isLate {
      loop.stop()
      await onNewThread { loop.waitUntilStopped() }
      await Task(executorPreference: loop) { begin() }.value
    } else {
      // The loop ends in the turn in which the attempt begins.
      loop.post {
        begin()
        loop.stop()
      }
      await onNewThread { loop.waitUntilStopped() }
    }
    #expect(await isReleased.awaited { $0 })
    #expect(calls.withLock { $0 } == 0)
    #expect(loop.counts == (0, 0))
  }

  /// Its owner cancels it at its own end, and that end comes in the middle of the cancellation.
  @Test func `an attempt can be cancelled twice, the second time from inside of the first`() async throws {
    final class Owner {
      var connecting: Connecting?
      let ends: Guarded<Int>
      init(_ ends: Guarded<Int>) { self.ends = ends }
      deinit {
        connecting?.cancel()
        ends.withLock { $0 += 1 }
      }
    }
    let loop = try TestLoop()
    let silent = try SilentServer()
    let place = silent.listener.address
    let ends = Guarded(0)
    try await loop.run { [loop = loop.loop] in
      var owner: Owner? = Owner(ends)
      let connecting = Connecting(to: [place], on: loop) { [owner] _ in withExtendedLifetime(owner) {} }
      owner?.connecting = connecting
      owner = nil
      connecting.start(within: .seconds(60))
      connecting.cancel()
    }
    #expect(ends.withLock { $0 } == 1)
  }

  @Test func `once there is a connection, no timer for the next address is left`() async throws {
    let loop = try TestLoop()
    let (closed, listener) = (try ReservedPort(), try Listener(at: abstractAddress()))
    let refusing = try address("127.0.0.1", port: closed.number)
    // The refusal comes in an event, and the Unix-domain socket then connects at once.
    let race = try await race(to: [refusing, listener.address, refusing], on: loop)
    #expect(await race.outcome.awaited { $0.calls > 0 }.peer == listener.address.description)
    let counts = try await loop.run { [loop = loop.loop] in loop.counts }
    #expect(counts == (1, 0))
    try await end(race, loop)
  }

  // MARK: Unix-domain sockets

  /// Nothing wakes a client when a Unix-domain socket has room again.
  @Test func `a full Unix-domain socket is asked again until it has room`() async throws {
    let loop = try TestLoop()
    let listener = try Listener(at: abstractAddress(), backlog: 0)
    let first = try Socket(.unix)
    guard case .connected = try first.connect(to: listener.address),
      case .backlogFull = try Socket(.unix).connect(to: listener.address)
    else {
      Issue.record("The socket is not full.")
      return
    }
    let race = try await race(to: [listener.address], on: loop)
    let hasWaited = Guarded(false)
    try await loop.run { [loop = loop.loop] in
      LoopTimer(on: loop) { hasWaited.withLock { $0 = true } }.set(after: .milliseconds(4))
    }
    _ = await hasWaited.awaited { $0 }
    #expect(race.outcome.withLock { $0.calls } == 0)
    #expect(try listener.accept() != nil)
    #expect(await race.outcome.awaited { $0.calls > 0 }.peer == listener.address.description)
    #expect(try listener.accept() != nil)
    try await end(race, loop)
  }

  @Test func `a Unix-domain socket that stays full ends at the time limit, and one that is gone is refused`() async throws {
    let loop = try TestLoop()
    var listener: Listener? = try Listener(at: abstractAddress(), backlog: 0)
    let place = try #require(listener?.address)
    let first = try Socket(.unix)
    _ = try first.connect(to: place)
    let limited = try await race(to: [place], on: loop, within: .milliseconds(10))
    let failure = await limited.outcome.awaited { $0.calls > 0 }.failure
    #expect(failure?.isTimedOut == true && failure?.addresses.map(\.error) == [nil])
    let unlimited = try await race(to: [place], on: loop)
    listener = nil
    #expect(listener == nil)
    #expect(await unlimited.outcome.awaited { $0.calls > 0 }.failure?.addresses.map(\.error) == [.connectionRefused])
    let counts = try await loop.run { [loop = loop.loop] in loop.counts }
    #expect(counts == (0, 0))
  }

  // MARK: This machine's end

  /// A client's port is chosen by the system, and may be the very one that it wants to reach.
  @Test func `a connection to itself is refused`() async throws {
    let loop = try TestLoop()
    let own = try address("127.0.0.1", port: try freePort())
    let race = try await race(to: [own], on: loop) { $0.localEnd = .addresses([own]) }
    let failure = await race.outcome.awaited { $0.calls > 0 }.failure
    #expect(failure?.addresses.map(\.address) == [own])
    #expect(failure?.addresses.map(\.error) == [.connectionRefused])
  }

  private func freePort() throws -> UInt16 {
    let listener = try Listener(at: address("127.0.0.1"))
    return try #require(listener.address.port)
  }

  @Test func `connections begin at the interface or address that was chosen`() async throws {
    let loop = try TestLoop()
    let listener = try Listener(at: address("127.0.0.1"))
    for (text, expected) in [
      ("lo", "127.0.0.1"), ("if!lo", "127.0.0.1"), ("127.0.0.3", "127.0.0.3"), ("host!127.0.0.4", "127.0.0.4"),
    ] {
      let race = try await race(to: [listener.address], on: loop) { $0.localEnd = LocalEnd(text) }
      #expect(await race.outcome.awaited { $0.calls > 0 }.local?.host == expected, "\(text)")
      try await end(race, loop)
    }
  }

  @Test func `an interface or address that this machine doesn't have is named as the reason`() async throws {
    let loop = try TestLoop()
    let listener = try Listener(at: address("127.0.0.1"))
    for (text, reason) in [
      ("if!nothing9", "No such device"), ("192.0.2.1", "Cannot assign requested address"),
      ("::1", "Address family not supported by protocol"), ("host!a.example", "Cannot assign requested address"),
      // Linux takes an empty name for no interface at all, ends a name at a NUL, and cuts it after 15 bytes.
      ("if!", "No such device"), ("if!lo\0x", "No such device"), ("if!lo0123456789abcdef", "No such device"),
    ] {
      let race = try await race(to: [listener.address], on: loop) { $0.localEnd = LocalEnd(text) }
      let failure = await race.outcome.awaited { $0.calls > 0 }.failure
      #expect(failure?.addresses.first?.error?.description == reason, "\(text)")
    }
  }

  @Test func `what can be an interface, an address or a name is told apart`() throws {
    #expect(LocalEnd("lo") == .interface("lo"))
    #expect(LocalEnd("if!127.0.0.1") == .interface("127.0.0.1"))
    #expect(LocalEnd("host!lo") == .host("lo"))
    #expect(LocalEnd("127.0.0.1") == .addresses([try address("127.0.0.1")]))
    #expect(LocalEnd("own.example") == .host("own.example"))
  }

  /// For users who may not bind to an interface.
  @Test func `the first address of an interface stands for it`() throws {
    let socket = try Socket(.ipv4)
    try LocalEnd.bind(socket, toAddressOf: "lo")
    #expect(try socket.localAddress?.host == "127.0.0.1")
    #expect(throws: SystemError.addressUnavailable) { try LocalEnd.bind(Socket(.ipv4), toAddressOf: "nothing9") }
  }
}
