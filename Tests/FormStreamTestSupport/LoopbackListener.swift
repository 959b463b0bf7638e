import Glibc
public import FormStreamMultipart
import FormStreamPlatform

/// The address of a server of the tests.
public enum LoopbackAddress: Sendable, Hashable {
  /// An address of the loopback, `127.0.0.1`, `127.0.0.2` or `::1`; port 0 is any free one.
  case ip(String, port: UInt16 = 0)
  /// A socket in the file system.
  case unix(LocalPath)

  /// A free port of 127.0.0.1.
  public static var local: LoopbackAddress { .ip("127.0.0.1") }
}

/// A listening socket, a thread that accepts connections, and a thread for each connection. `stop` ends all threads.
final class LoopbackListener: Sendable {
  /// The port, or 0 for a socket in the file system.
  let port: UInt16
  /// Opened to end all threads.
  let stopping: Gate

  private let descriptor: Int32
  /// The name of its threads.
  private var name: String { "server-\(port)" }
  private let threads = Guarded(Threads())
  /// Held while a connection is accepted and recorded.
  private let accepting = Guarded(())

  private struct Threads {
    var accepting: pthread_t?
    /// Whether connections are to be refused.
    var isRefusing = false
    var serving: [Int: pthread_t] = [:]
    var finished: [pthread_t] = []
    var count = 0
    var isStopped = false
  }

  /// The `SO_RCVBUF` of each connection: small, so that a server that doesn't read accepts little.
  ///
  /// It holds two packets of the loopback device (64 KiB). Linux drops a packet for which the buffer has no room and sends
  /// it again later and later, so with a smaller buffer a connection can stand still for a minute.
  private static let receiveBuffer: Int32 = 128 << 10

  /// How many connections are served at the same time. More wait to be accepted.
  static let limit = 1024

  /// - Parameter isListening: whether connections are accepted from the start, or refused.
  init(_ address: LoopbackAddress, isListening: Bool = true) throws {
    stopping = try Gate()
    // A port that is asked for by its number stays with the socket, even while connections are refused.
    var (address, finder) = (address, Int32(-1))
    if case .ip(let host, 0) = address {
      let (descriptor, port) = try boundSocket(address)
      (address, finder) = (.ip(host, port: port), descriptor)
    }
    defer { if finder >= 0 { close(finder) } }
    (descriptor, port) = try boundSocket(address, Int32(SOCK_NONBLOCK.rawValue))
    // Set before listening, because connections inherit it and announce it from the first byte.
    var buffer = Self.receiveBuffer
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
    guard !isListening || listen(descriptor, 1024) == 0 else {
      let failure = SystemError(number: errno)
      close(descriptor)
      throw failure
    }
  }

  deinit { close(descriptor) }

  /// Serves a connection and closes it.
  typealias Work = @Sendable () -> Void

  /// Starts to accept connections. `prepare` is called for each connection's descriptor, in their order, and its
  /// result runs on the connection's thread. Does nothing if it accepts already, or after `stop`.
  func start(_ prepare: @escaping @Sendable (Int32) -> Work) {
    threads.withLock { threads in
      if threads.isStopped || threads.accepting != nil { return }
      threads.isRefusing = false
      _ = listen(descriptor, 1024)
      threads.accepting = startJoinableThread(named: name) { self.acceptLoop(prepare) }
    }
  }

  /// Refuses connections until the next `start`. Those that were accepted stay.
  func refuse() {
    threads.withLock { $0.isRefusing = true }
    shutdown(descriptor, Int32(SHUT_RDWR))
    endAccepting()
  }

  private func endAccepting() {
    let accepting = threads.withLock { threads in
      defer { threads.accepting = nil }
      return threads.accepting
    }
    if let accepting { pthread_join(accepting, nil) }
  }

  /// Ends all threads, and returns when they have ended. Must not be called from one of them.
  func stop() {
    stopping.open()
    threads.withLock { $0.isStopped = true }
    // This thread ends first, so that none is added after it.
    endAccepting()
    let rest = threads.withLock { threads in
      defer {
        threads.serving = [:]
        threads.finished = []
      }
      return threads.finished + threads.serving.values
    }
    for thread in rest { pthread_join(thread, nil) }
  }

  /// Calls `body` while no connection is being accepted, with whether one waits for that.
  func betweenAccepts<Result>(_ body: (_ isWaiting: Bool) -> Result) -> Result {
    accepting.withLock { _ in
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return body(pollAgain(&waiting, 1, milliseconds: 0) > 0)
    }
  }

  private func acceptLoop(_ prepare: @escaping @Sendable (Int32) -> Work) {
    while true {
      var watched = [stopping.pollable, pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
      pollAgain(&watched, watched.count, milliseconds: -1)
      if watched[0].revents != 0 || threads.withLock({ $0.isRefusing }) { return }
      joinFinished()
      let work = accepting.withLock { _ -> Work? in
        let connection = acceptWaiting(descriptor)
        if connection < 0 { return nil }
        _ = fcntl(connection, F_SETFL, O_NONBLOCK)
        return prepare(connection)
      }
      guard let work else { continue }
      threads.withLock { threads in
        let number = threads.count
        threads.count += 1
        threads.serving[number] = startJoinableThread(named: name) {
          work()
          self.threads.withLock { threads in
            if let own = threads.serving.removeValue(forKey: number) {
              threads.finished.append(own)
            }
          }
        }
      }
    }
  }

  /// Joins the threads that have ended, and waits while too many others run.
  private func joinFinished() {
    var finished: [pthread_t] = []
    _ = threads.wait(within: 600) { threads in
      finished += threads.finished
      threads.finished = []
      return threads.serving.count < Self.limit || threads.isStopped
    }
    for thread in finished { pthread_join(thread, nil) }
  }

  /// The address family, and the address in the system's form.
  static func bytes(of address: LoopbackAddress) throws -> (family: Int32, [UInt8]) {
    switch address {
    case .unix(let path):
      var unix = sockaddr_un()
      unix.sun_family = sa_family_t(AF_UNIX)
      guard path.bytes.count < MemoryLayout.size(ofValue: unix.sun_path) else {
        throw SystemError(number: ENAMETOOLONG)
      }
      withUnsafeMutableBytes(of: &unix.sun_path) { $0.copyBytes(from: path.bytes) }
      return (AF_UNIX, withUnsafeBytes(of: &unix) { Array($0) })
    case .ip(let host, let port) where host.contains(":"):
      var six = sockaddr_in6()
      six.sin6_family = sa_family_t(AF_INET6)
      six.sin6_port = port.bigEndian
      guard inet_pton(AF_INET6, host, &six.sin6_addr) == 1 else {
        throw SystemError(number: EINVAL)
      }
      return (AF_INET6, withUnsafeBytes(of: &six) { Array($0) })
    case .ip(let host, let port):
      var four = sockaddr_in()
      four.sin_family = sa_family_t(AF_INET)
      four.sin_port = port.bigEndian
      guard inet_pton(AF_INET, host, &four.sin_addr) == 1 else { throw SystemError(number: EINVAL) }
      return (AF_INET, withUnsafeBytes(of: &four) { Array($0) })
    }
  }
}

/// A blocking socket that is connected to an address of the loopback.
public func connected(to address: LoopbackAddress) throws -> Int32 {
  let (family, bytes) = try LoopbackListener.bytes(of: address)
  let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  guard descriptor >= 0 else { throw SystemError(number: errno) }
  var storage = sockaddr_storage()
  let result = withUnsafeMutablePointer(to: &storage) { storage in
    UnsafeMutableRawPointer(storage).copyMemory(from: bytes, byteCount: bytes.count)
    return storage.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(bytes.count))
    }
  }
  guard result == 0 else {
    defer { close(descriptor) }
    throw SystemError(number: errno)
  }
  return descriptor
}
