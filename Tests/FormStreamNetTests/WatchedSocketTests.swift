import FormStreamNet
import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(2))) struct WatchedSocketTests {
  /// Runs a function on the loop, with a buffer of that size.
  private func read(
    _ socket: OnLoop<WatchedSocket>, _ loop: TestLoop, atMost count: Int = 4096
  ) async throws -> WatchedSocket.Reading {
    try await loop.run {
      var buffer = [UInt8](repeating: 0, count: count)
      return try buffer.withUnsafeMutableBytes { try socket.value.read(into: $0) }
    }
  }

  /// Waits until the loop has reported something of a socket, so that a test knows that the socket has been looked at.
  private func isReadable(_ socket: OnLoop<WatchedSocket>, _ loop: TestLoop) async -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end { if (try? await loop.run { socket.value.mayRead }) == true { return true } }
    return false
  }

  // MARK: Writing

  /// Every way in which the system can divide a head and a body.
  @Test(arguments: [(0, 1), (1, 0), (1, 1), (200, 4096), (300_000, 0), (0, 300_000), (100_000, 1_000_000)])
  func `a head and a body arrive whole through a small buffer`(_ head: Int, _ body: Int) async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair(sendBuffer: 4096, receiveBuffer: 65_536)
    let bytes = pattern(head + body)
    let user = WritingUser(Array(bytes[..<head]), Array(bytes[head...]))
    let socket = try await loop.watch(client, user)
    let received = try await onNewThread { try server.readBlocking() }
    #expect(received == bytes)
    let report = await user.report.awaited(\.isDone)
    #expect(report.pieces.reduce(0, +) == bytes.count)
    if bytes.count >= 300_000 { #expect(report.pieces.count > 2) }
    let counts = try await loop.run { (socket.value.sentBytes, socket.value.receivedBytes) }
    #expect(counts == (Int64(bytes.count), 0))
    try await loop.run { socket.value.close() }
  }

  @Test func `a request that fits leaves in one call`() async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair()
    let user = WritingUser(pattern(200), pattern(4096))
    let socket = try await loop.watch(client, user)
    _ = await user.report.awaited(\.isDone)
    let report = user.report.withLock { $0 }
    #expect(report.pieces == [4296] && report.refusals == 0)
    #expect(try await onNewThread { try server.readBlocking() } == pattern(200) + pattern(4096))
    try await loop.run { socket.value.close() }
  }

  @Test func `a peer that reads one byte at a time gets each byte once`() async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair(sendBuffer: 2048, receiveBuffer: 2048)
    let bytes = pattern(60_000)
    let user = WritingUser([], bytes)
    let socket = try await loop.watch(client, user)
    #expect(try await onNewThread { try server.readBlocking(piece: 1) } == bytes)
    #expect(await user.report.awaited(\.isDone).failure == nil)
    try await loop.run { socket.value.close() }
  }

  @Test(arguments: [1, 2, 7, 4095, 4096, 4097])
  func `whatever the size of the reader's buffer, each byte is read once, and then the end`(_ piece: Int) async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair(sendBuffer: 4096)
    let bytes = pattern(piece < 8 ? 5_000 : 100_000)
    let user = ReadingUser(piece: piece)
    let socket = try await loop.watch(client, user)
    try await onNewThread {
      try server.writeBlocking(bytes)
      try server.endSending()
    }
    let report = await user.report.awaited(\.isOver)
    #expect(report.bytes == bytes)
    #expect(report.failure == nil)
    let counts = try await loop.run { (socket.value.receivedBytes, socket.value.hasHungUp) }
    #expect(counts == (Int64(bytes.count), true))
    try await loop.run { socket.value.close() }
  }

  @Test func `after a full buffer nothing is written in vain until there is room`() async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair(sendBuffer: 4096, receiveBuffer: 65_536)
    let idle = IdleUser()
    let socket = try await loop.watch(client, idle)
    _ = await idle.events.awaited { $0 > 0 }
    let (sent, refused, seen) = try await loop.run { () -> (Int, Int, Int) in
      var sent = 0
      let piece = [UInt8](repeating: 1, count: 100_000)
      while socket.value.mayWrite { sent += try piece.withUnsafeBytes { try socket.value.write($0) } }
      return (sent, try piece.withUnsafeBytes { try socket.value.write($0) }, idle.events.withLock { $0 })
    }
    #expect(sent > 0 && refused == 0)
    // The peer has received as much as it has room for, and reads only now.
    let received = try await onNewThread { try server.readBlocking(sent) }
    #expect(received.count == sent)
    _ = await idle.events.awaited { $0 > seen }
    #expect(try await loop.run { socket.value.mayWrite })
    try await loop.run { socket.value.close() }
  }

  // MARK: Reading

  @Test func `a short read means that there is nothing more, and no call is made for it`() async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair()
    let socket = try await loop.watch(client, IdleUser())
    try server.writeBlocking([1, 2, 3])
    #expect(await isReadable(socket, loop))
    #expect(try await read(socket, loop) == .bytes(3))
    #expect(try await loop.run { !socket.value.mayRead })
    #expect(try await read(socket, loop) == .nothing)
    // A buffer that was filled says nothing.
    try server.writeBlocking([4, 5])
    #expect(await isReadable(socket, loop))
    #expect(try await read(socket, loop, atMost: 2) == .bytes(2))
    #expect(try await loop.run { socket.value.mayRead })
    #expect(try await read(socket, loop) == .nothing)
    try await loop.run { socket.value.close() }
  }

  /// The end comes without another event if it was there before the first read.
  @Test func `the end that came with the bytes is read after them`() async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair()
    try server.writeBlocking([1])
    try server.endSending()
    wait(for: 0x2000, on: client.number)
    let user = ReadingUser()
    let socket = try await loop.watch(client, user)
    let report = await user.report.awaited(\.isOver)
    #expect(report.bytes == [1] && report.failure == nil)
    try await loop.run { socket.value.close() }
  }

  /// A read stops before urgent data, so a short read does not mean that there is nothing more.
  @Test func `bytes after urgent data are read without another event`() async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair()
    try server.writeBlocking([1, 2])
    #expect(send(server.number, [9], 1, CInt(MSG_OOB)) == 1)
    try server.writeBlocking([3, 4, 5])
    // All six bytes have arrived before the first read. (FIONREAD counts no further than the urgent data.)
    let user = ReadingUser()
    #expect(await eventually { client.traffic?.receivedBytes == 6 })
    let socket = try await loop.watch(client, user)
    #expect(await user.report.awaited { $0.bytes.count >= 5 }.bytes == [1, 2, 3, 4, 5])
    try await loop.run { socket.value.close() }
  }

  /// What a user does that has no room at present.
  @Test func `bytes that were not read when they were reported can be read later, without another event`() async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair()
    let idle = IdleUser()
    let socket = try await loop.watch(client, idle)
    try server.writeBlocking([1])
    #expect(await isReadable(socket, loop))
    for _ in 0..<10 { _ = try await loop.run { 0 } }
    #expect(try await read(socket, loop) == .bytes(1))
    try await loop.run { socket.value.close() }
  }

  // MARK: Failures

  /// The system reports a failure once, and then pretends that the connection had ended in order.
  @Test func `after a write has failed, bytes can still be read, and then there is the failure and no end`() async throws {
    let loop = try TestLoop()
    let (client, peer) = try resetPair(sending: pattern(10))
    let socket = try await loop.watch(client, IdleUser())
    #expect(await isReadable(socket, loop))
    let failure = try await loop.run { () -> SystemError? in
      do throws(SystemError) {
        var byte: UInt8 = 1
        _ = try withUnsafeBytes(of: &byte) { bytes throws(SystemError) in try socket.value.write(bytes) }
        return nil
      } catch { return error }
    }
    #expect(failure?.isReset == true)
    #expect(try await read(socket, loop) == .bytes(10))
    for _ in 0..<2 {
      let error = await #expect(throws: SystemError.self) { try await read(socket, loop) }
      #expect(error == failure)
    }
    #expect(try await loop.run { socket.value.hasInput() && socket.value.failure == failure })
    try await loop.run { socket.value.close() }
    withExtendedLifetime(peer) {}
  }

  /// A look at the socket takes the failure out of the system, as a read does.
  @Test func `a failure that only a look has seen is not forgotten`() async throws {
    let loop = try TestLoop()
    let (client, peer) = try resetPair(sending: [])
    let socket = try await loop.watch(client, IdleUser())
    #expect(try await loop.run { socket.value.hasInput() })
    let error = await #expect(throws: SystemError.self) { try await read(socket, loop) }
    #expect(error?.isReset == true)
    try await loop.run { socket.value.close() }
    withExtendedLifetime(peer) {}
  }

  @Test func `bytes before a reset are read, and then the failure, again and again`() async throws {
    let loop = try TestLoop()
    let (client, peer) = try resetPair(sending: pattern(10))
    let socket = try await loop.watch(client, IdleUser())
    #expect(await isReadable(socket, loop))
    #expect(try await read(socket, loop, atMost: 4) == .bytes(4))
    #expect(try await read(socket, loop) == .bytes(6))
    for _ in 0..<3 {
      let error = await #expect(throws: SystemError.self) { try await read(socket, loop) }
      #expect(error?.isReset == true)
    }
    let error = await #expect(throws: SystemError.self) {
      try await loop.run { try [UInt8(1)].withUnsafeBytes { _ = try socket.value.write($0) } }
    }
    #expect(error?.isReset == true)
    try await loop.run { socket.value.close() }
    withExtendedLifetime(peer) {}
  }

  /// The loop would otherwise use up a processor until the user closes the socket.
  @Test func `a broken connection that its user leaves alone is reported once`() async throws {
    let loop = try TestLoop()
    let (client, peer) = try resetPair(sending: [1])
    let idle = IdleUser()
    let socket = try await loop.watch(client, idle)
    #expect(await isReadable(socket, loop))
    for _ in 0..<50 { _ = try await loop.run { 0 } }
    #expect(idle.events.withLock { $0 } == 1)
    #expect(try await loop.run { socket.value.hasHungUp && socket.value.failure == nil })
    try await loop.run { socket.value.close() }
    withExtendedLifetime(peer) {}
  }

  /// A connection whose other side has sent bytes and then a reset, which have both arrived.
  private func resetPair(sending bytes: [UInt8]) throws -> (Socket, Socket?) {
    var (client, server): (Socket, Socket?) = try tcpPair()
    try server?.writeBlocking(bytes)
    server?.resetAtClose()
    server = nil
    wait(for: POLLERR, on: client.number)
    return (client, server)
  }

  @Test func `after it was closed, a socket can't be used, and its user hears nothing`() async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair()
    let idle = IdleUser()
    let socket = try await loop.watch(client, idle)
    try server.writeBlocking([1])
    #expect(await isReadable(socket, loop))
    let seen = idle.events.withLock { $0 }
    try await loop.run { socket.value.close() }
    try server.writeBlocking([2])
    await #expect(throws: SystemError.notOpen) { try await read(socket, loop) }
    await #expect(throws: SystemError.notOpen) { try await loop.run { try socket.value.endSending() } }
    await #expect(throws: SystemError.notOpen) {
      try await loop.run { _ = try socket.value.write(UnsafeRawBufferPointer(start: nil, count: 0)) }
    }
    #expect(try await loop.run { socket.value.hasInput() && !socket.value.isOpen && socket.value.unacknowledgedBytes == nil })
    #expect(idle.events.withLock { $0 } == seen)
  }

  /// The user's end comes inside of `close`.
  @Test func `a user that closes its socket at its own end closes it once`() async throws {
    final class Closing: SocketUser {
      var socket: WatchedSocket?
      let ends: Guarded<Int>
      init(_ ends: Guarded<Int>) { self.ends = ends }
      func isReady(_ socket: WatchedSocket) {}
      func loopEnds(_ socket: WatchedSocket) {}
      deinit {
        socket?.close()
        ends.withLock { $0 += 1 }
      }
    }
    let loop = try TestLoop()
    let (client, _) = try tcpPair()
    let ends = Guarded(0)
    let descriptors = try await loop.run { [loop = loop.loop] in
      var user: Closing? = Closing(ends)
      let socket = try WatchedSocket(client, on: loop, for: try #require(user))
      user?.socket = socket
      user = nil
      socket.close()
      return loop.counts.descriptors
    }
    #expect(descriptors == 0 && ends.withLock { $0 } == 1)
  }

  @Test func `an empty buffer is not the end`() async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair()
    let socket = try await loop.watch(client, IdleUser())
    try server.writeBlocking([1])
    #expect(await isReadable(socket, loop))
    #expect(try await read(socket, loop, atMost: 0) == .bytes(0))
    #expect(try await read(socket, loop) == .bytes(1))
    try await loop.run { socket.value.close() }
  }

  // MARK: Ends

  @Test func `after its own end a socket still reads`() async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair()
    let socket = try await loop.watch(client, IdleUser())
    try await loop.run { try socket.value.endSending() }
    #expect(try server.readBlocking() == [])
    try server.writeBlocking([5])
    #expect(await isReadable(socket, loop))
    #expect(try await read(socket, loop) == .bytes(1))
    try await loop.run { socket.value.close() }
  }

  @Test func `a reset is a failure to the other side, and a close is an end`() async throws {
    let loop = try TestLoop()
    for resets in [true, false] {
      var (client, server): (Socket?, Socket) = try tcpPair()
      let socket = try await loop.watch(try #require(client), IdleUser())
      client = nil
      try await loop.run { if resets { socket.value.reset() } else { socket.value.close() } }
      if resets {
        let error = #expect(throws: SystemError.self) { try server.readBlocking() }
        #expect(error?.isReset == true)
      } else {
        #expect(try server.readBlocking() == [])
      }
    }
  }

  // MARK: Before a request

  @Test func `nothing, bytes, the end and a failure are told apart without reading`() throws {
    let (quiet, other) = try tcpPair()
    #expect(try !quiet.hasInput())
    try other.writeBlocking([1])
    wait(for: POLLIN, on: quiet.number)
    #expect(try quiet.hasInput())
    #expect(try quiet.hasInput())
    #expect(try quiet.readBlocking(1) == [1])
    #expect(try !quiet.hasInput())
    try other.endSending()
    wait(for: POLLIN, on: quiet.number)
    #expect(try quiet.hasInput())
    let (broken, _) = try resetPair(sending: [])
    let failure = #expect(throws: SystemError.self) { try broken.hasInput() }
    #expect(failure?.isReset == true)
  }
}
