import FormStreamNet
import FormStreamPlatform
import FormStreamTestSupport
import Glibc

/// A loop that ends with the test.
final class TestLoop: Sendable {
  let loop: EventLoop

  init() throws { loop = try EventLoop(named: "test-loop") }

  deinit { loop.stop() }

  /// Runs a closure on the loop's thread, and waits for its value.
  func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      loop.post { continuation.resume(with: Result { try body() }) }
    }
  }
}

/// A value that only the thread of one loop uses.
final class OnLoop<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) { self.value = value }
}

extension Guarded {
  /// Waits until a condition is fulfilled, and returns the value. If that takes too long, a check of the value fails.
  func awaited(_ condition: @escaping @Sendable (Value) -> Bool) async -> Value where Value: Sendable {
    _ = await eventually { withLock { condition($0) } }
    return withLock { $0 }
  }
}

/// Two ends of a TCP connection.
func tcpPair(sendBuffer: Int32? = nil, receiveBuffer: Int32? = nil) throws -> (client: Socket, server: Socket) {
  let listener = try Listener(at: address("127.0.0.1"))
  let client = try Socket(.ipv4)
  if let sendBuffer { try setSize(of: SO_SNDBUF, sendBuffer, client) }
  _ = try client.connect(to: listener.address)
  wait(for: POLLIN, on: listener.number)
  guard let (server, _) = try listener.accept() else { throw SystemError(number: EAGAIN) }
  if let receiveBuffer { try setSize(of: SO_RCVBUF, receiveBuffer, server) }
  return (client, server)
}

/// C: `setsockopt`
private func setSize(of buffer: CInt, _ size: CInt, _ socket: Socket) throws(SystemError) {
  var size = size
  _ = try retryingInterrupts {
    setsockopt(socket.number, SOL_SOCKET, buffer, &size, socklen_t(MemoryLayout<CInt>.size))
  }
}

/// Two ends of a connection between Unix-domain sockets.
func unixPair() throws -> (Socket, Socket) {
  let listener = try Listener(at: abstractAddress())
  let one = try Socket(.unix)
  _ = try one.connect(to: listener.address)
  guard let (other, _) = try listener.accept() else { throw SystemError(number: EAGAIN) }
  return (one, other)
}

/// A numeric address.
func address(_ text: String, port: UInt16 = 0) throws -> SocketAddress {
  guard let address = SocketAddress(text, port: port) else { throw SystemError(number: EINVAL) }
  return address
}

/// An address of a Unix-domain socket that nobody else has.
func abstractAddress() throws -> SocketAddress {
  var chance = SystemRandomNumberGenerator()
  guard let name = SocketAddress.UnixName(abstract: Array("formstream-test-\(chance.next())".utf8))
  else { throw SystemError(number: EINVAL) }
  return .unix(name)
}

/// Waits for an event on this thread. Returns false if there is none for half a minute.
@discardableResult func wait(for event: Int32, on descriptor: CInt, milliseconds: Int32 = 30_000) -> Bool {
  var watched = pollfd(fd: descriptor, events: Int16(event), revents: 0)
  while true {
    let count = poll(&watched, 1, milliseconds)
    if count >= 0 || errno != EINTR { return count > 0 }
  }
}

extension Socket {
  /// Reads on this thread, at most `piece` bytes at a time, until there are `count` bytes, or until the end.
  func readBlocking(_ count: Int = .max, piece: Int = 64 << 10) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: piece)
    while bytes.count < count {
      guard wait(for: POLLIN, on: number) else { throw SystemError(number: ETIMEDOUT) }
      let most = min(piece, count - bytes.count)
      let read = try buffer.withUnsafeMutableBytes { try receive(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<most])) }
      guard let read else { continue }
      if read == 0 { break }
      bytes += buffer[..<read]
    }
    return bytes
  }

  /// Writes all bytes on this thread.
  func writeBlocking(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let count = try rest.withUnsafeBytes({ try send($0) }) else {
        guard wait(for: POLLOUT, on: number) else { throw SystemError(number: ETIMEDOUT) }
        continue
      }
      rest = rest.dropFirst(count)
    }
  }
}

/// Numbers that show at once where bytes are missing, doubled or out of order.
func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) } }

/// Writes a head and a body over a socket, whatever the system takes at a time.
final class WritingUser: SocketUser, @unchecked Sendable {
  private let head: [UInt8]
  private let body: [UInt8]
  private var written = 0
  /// How many calls of `write` took something, and how many took nothing.
  struct Report: Sendable {
    var pieces: [Int] = []
    var refusals = 0
    var isDone = false
    var failure: SystemError?
  }
  let report = Guarded(Report())
  private let endsSending: Bool

  init(_ head: [UInt8], _ body: [UInt8], endsSending: Bool = true) {
    (self.head, self.body, self.endsSending) = (head, body, endsSending)
  }

  func isReady(_ socket: WatchedSocket) {
    if report.withLock({ $0.isDone }) { return }
    do {
      while written < head.count + body.count {
        let count = try head.dropFirst(written).withUnsafeBytes { head in
          try body.dropFirst(max(0, written - self.head.count)).withUnsafeBytes { body in try socket.write(head, body) }
        }
        written += count
        report.withLock { if count > 0 { $0.pieces.append(count) } else { $0.refusals += 1 } }
        // The system's buffer is full: the next event says when it has room.
        if !socket.mayWrite { break }
      }
      guard written == head.count + body.count else { return }
      if endsSending { try socket.endSending() }
      report.withLock { $0.isDone = true }
    } catch {
      report.withLock { ($0.failure, $0.isDone) = (error as? SystemError, true) }
    }
  }

  func loopEnds(_ socket: WatchedSocket) {}
}

/// Reads a socket to its end or failure.
final class ReadingUser: SocketUser, @unchecked Sendable {
  struct Report: Sendable {
    var bytes: [UInt8] = []
    var isOver = false
    var failure: SystemError?
    var reads = 0
    var events = 0
  }
  let report = Guarded(Report())
  private var buffer: [UInt8]

  init(piece: Int = 4096) { buffer = [UInt8](repeating: 0, count: piece) }

  func isReady(_ socket: WatchedSocket) {
    report.withLock { $0.events += 1 }
    while !report.withLock({ $0.isOver }) {
      do {
        let reading = try buffer.withUnsafeMutableBytes { try socket.read(into: $0) }
        report.withLock { $0.reads += 1 }
        switch reading {
        case .nothing: return
        case .end: report.withLock { $0.isOver = true }
        case .bytes(let count): report.withLock { $0.bytes += buffer[..<count] }
        }
      } catch {
        report.withLock { ($0.failure, $0.isOver) = (error as? SystemError, true) }
      }
    }
  }

  func loopEnds(_ socket: WatchedSocket) {}
}

/// Does nothing.
final class IdleUser: SocketUser, @unchecked Sendable {
  let events = Guarded(0)
  let isEnded = Guarded(false)

  func isReady(_ socket: WatchedSocket) { events.withLock { $0 += 1 } }

  func loopEnds(_ socket: WatchedSocket) { isEnded.withLock { $0 = true } }
}

extension TestLoop {
  /// Watches a socket, and waits for its first event.
  func watch(_ socket: Socket, _ user: any SocketUser & Sendable) async throws -> OnLoop<WatchedSocket> {
    let loop = loop
    return try await run { OnLoop(try WatchedSocket(socket, on: loop, for: user)) }
  }
}

/// Passes closures until one of them finds the condition true.
func eventuallyOnLoop(_ loop: TestLoop, _ condition: @escaping @Sendable () -> Bool) async -> Bool {
  let end = ContinuousClock.now + .seconds(60)
  while ContinuousClock.now < end {
    if (try? await loop.run(condition)) == true { return true }
  }
  return false
}
