import FormStreamNet
import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(2))) struct TrafficTests {
  /// A peer that reads nothing acknowledges only what its system has room for.
  @Test func `what the other side has not acknowledged is counted, and nothing else`() async throws {
    let loop = try TestLoop()
    let (client, server) = try tcpPair(receiveBuffer: 65_536)
    let user = WritingUser([], pattern(400_000), endsSending: false)
    let socket = try await loop.watch(client, user)
    _ = await user.report.awaited { $0.pieces.count > 0 }
    let (sent, unacknowledged) = try await loop.run { (socket.value.sentBytes, socket.value.unacknowledgedBytes) }
    #expect(unacknowledged ?? 0 > 0 && unacknowledged ?? .max <= sent)
    #expect(try await onNewThread { try server.readBlocking(400_000) } == pattern(400_000))
    let isAcknowledged = await eventuallyOnLoop(loop) { socket.value.unacknowledgedBytes == 0 }
    #expect(isAcknowledged)
    // The end counts as no byte, neither before it is acknowledged nor after.
    let afterEnd = try await loop.run {
      try socket.value.endSending()
      return socket.value.unacknowledgedBytes
    }
    #expect(afterEnd == 0)
    _ = try await onNewThread { try server.readBlocking() }
    let isEndAcknowledged = await eventuallyOnLoop(loop) { socket.value.isEndAcknowledged == true }
    #expect(isEndAcknowledged)
    try await loop.run { socket.value.close() }
  }

  @Test func `the system counts received and acknowledged bytes`() throws {
    let (client, server) = try tcpPair()
    let before = try #require(client.traffic)
    try client.writeBlocking(pattern(1000))
    #expect(try server.readBlocking(1000) == pattern(1000))
    try server.writeBlocking(pattern(70))
    #expect(try client.readBlocking(70) == pattern(70))
    let after = try #require(client.traffic)
    #expect(after.acknowledgedBytes - before.acknowledgedBytes == 1000)
    #expect(after.receivedBytes == 70)
    #expect(client.unacknowledgedBytes == 0)
  }

  /// Linux drops the bytes then, and TCP_INFO says that none are on their way.
  @Test func `after a reset, what was not acknowledged doesn't count as acknowledged`() async throws {
    let loop = try TestLoop()
    var (client, server): (Socket, Socket?) = try tcpPair(receiveBuffer: 65_536)
    let bytes = pattern(100_000)
    while try bytes.withUnsafeBytes({ try client.send($0) }) != nil {}
    let socket = try await loop.watch(client, IdleUser())
    try await loop.run { try socket.value.endSending() }
    server?.resetAtClose()
    server = nil
    wait(for: POLLERR, on: client.number)
    let (left, end) = try await loop.run { (socket.value.unacknowledgedBytes, socket.value.isEndAcknowledged) }
    #expect(left ?? 0 > 0 && end == false)
    try await loop.run { socket.value.close() }
    withExtendedLifetime(server) {}
  }

  @Test func `an end that was not sent is not acknowledged`() async throws {
    let loop = try TestLoop()
    var (client, server): (Socket, Socket?) = try tcpPair()
    let socket = try await loop.watch(client, IdleUser())
    #expect(try await loop.run { socket.value.isEndAcknowledged } == false)
    server?.resetAtClose()
    server = nil
    wait(for: POLLERR, on: client.number)
    let (left, end) = try await loop.run { (socket.value.unacknowledgedBytes, socket.value.isEndAcknowledged) }
    #expect(left == 0 && end == false)
    try await loop.run { socket.value.close() }
    withExtendedLifetime(server) {}
  }

  /// The system counts something else there: the memory of what the peer has not read.
  @Test func `of a Unix-domain socket nothing is known`() throws {
    let (one, other) = try unixPair()
    try one.writeBlocking(pattern(100))
    #expect(one.unacknowledgedBytes == nil)
    #expect(one.traffic == nil)
    withExtendedLifetime(other) {}
  }
}
