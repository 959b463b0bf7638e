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
    #expect(try await loop.run { socket.value.traffic?.isAcknowledged } == false)
    #expect(try await onNewThread { try server.readBlocking(400_000) } == pattern(400_000))
    #expect(await allAcknowledged(socket, loop))
    // The end counts as no byte, neither before it is acknowledged nor after.
    let afterEnd = try await loop.run {
      try socket.value.endSending()
      return socket.value.unacknowledgedBytes
    }
    #expect(afterEnd == 0)
    _ = try await onNewThread { try server.readBlocking() }
    #expect(await allAcknowledged(socket, loop))
    #expect(try await loop.run { socket.value.traffic?.isEndAcknowledged } == true)
    try await loop.run { socket.value.close() }
  }

  private func allAcknowledged(_ socket: OnLoop<WatchedSocket>, _ loop: TestLoop) async -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      let isSo = try? await loop.run {
        socket.value.unacknowledgedBytes == 0 && socket.value.traffic?.isAcknowledged == true
      }
      if isSo == true { return true }
    }
    return false
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
    #expect(after.isAcknowledged && !after.isEndAcknowledged)
    #expect(client.unacknowledgedBytes == 0)
  }

  /// The system counts something else there: the memory of what the peer has not read.
  @Test func `of a Unix-domain socket nothing is known`() throws {
    let (one, other) = try Socket.pair()
    try one.writeBlocking(pattern(100))
    #expect(one.unacknowledgedBytes == nil)
    #expect(one.traffic == nil)
    withExtendedLifetime(other) {}
  }
}
