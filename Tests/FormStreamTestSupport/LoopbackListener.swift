import Glibc
public import FormStreamMultipart

/// Where a server of the tests listens.
public enum LoopbackAddress: Sendable, Hashable {
  /// An address of the loopback, `127.0.0.1`, `127.0.0.2` or `::1`; port 0 is any free one.
  case ip(String, port: UInt16 = 0)
  /// A socket in the file system.
  case unix(LocalPath)

  /// A free port of 127.0.0.1.
  public static var local: LoopbackAddress { .ip("127.0.0.1") }
}

/// A socket that listens, and the threads that serve those who come: one that lets them in, and one for
/// each. `stop` ends them all.
final class LoopbackListener: Sendable {
  /// The port; 0 for a socket in the file system.
  let port: UInt16
  /// Is opened to end all.
  let stopping: Gate

  private let descriptor: Int32
  /// What its threads are called.
  private var name: String { "server-\(port)" }
  private let crew: Guarded<Crew>

  private struct Crew {
    var letsIn: pthread_t?
    var working: [Int: pthread_t] = [:]
    var finished: [pthread_t] = []
    var count = 0
    var isOver = false
  }

  /// How many connections are served at one time; more wait to be let in.
  static let limit = 1024

  /// - Parameter receiveBuffer: the `SO_RCVBUF` of each connection; the system's where nil.
  init(_ address: LoopbackAddress, receiveBuffer: Int?) throws {
    stopping = try Gate()
    crew = Guarded(Crew())
    let (family, bytes) = try Self.bytes(of: address)
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, kind | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError(number: errno) }
    // It is set before listening: connections inherit it, and announce no more from the first byte.
    if var size = receiveBuffer.map({ Int32($0) }) {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var storage = sockaddr_storage()
    var size = socklen_t(bytes.count)
    let result = withUnsafeMutablePointer(to: &storage) { storage in
      UnsafeMutableRawPointer(storage).copyMemory(from: bytes, byteCount: bytes.count)
      return storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int32 in
        if bind(descriptor, pointer, size) < 0 || listen(descriptor, 1024) < 0 { return -1 }
        size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return getsockname(descriptor, pointer, &size)
      }
    }
    guard result == 0 else {
      defer { close(descriptor) }
      throw SystemError(number: errno)
    }
    self.descriptor = descriptor
    // The port stands at the same place in both kinds of address.
    port =
      family == AF_UNIX
      ? 0
      : withUnsafeBytes(of: &storage) {
        UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self))
      }
  }

  deinit { close(descriptor) }

  /// Does all for a connection, and closes it.
  typealias Work = @Sendable () -> Void

  /// Lets in who comes. `welcome` is called for each with the connection's descriptor, in their order; what
  /// it gives is done on a thread of its own. Does nothing where all is over already.
  func start(_ welcome: @escaping @Sendable (Int32) -> Work) {
    crew.withLock { crew in
      if crew.isOver { return }
      crew.letsIn = startJoinableThread(named: name) { self.letIn(welcome) }
    }
  }

  /// Ends all: when it returns, no thread is left. Must not be called from one of them.
  func stop() {
    stopping.open()
    let letsIn = crew.withLock { crew in
      crew.isOver = true
      defer { crew.letsIn = nil }
      return crew.letsIn
    }
    // Who lets in goes first: after that, no thread is added.
    if let letsIn { pthread_join(letsIn, nil) }
    let rest = crew.withLock { crew in
      defer {
        crew.working = [:]
        crew.finished = []
      }
      return crew.finished + crew.working.values
    }
    for thread in rest { pthread_join(thread, nil) }
  }

  private func letIn(_ welcome: @escaping @Sendable (Int32) -> Work) {
    while true {
      var watched = [stopping.pollable, pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
      pollAgain(&watched, watched.count, milliseconds: -1)
      if watched[0].revents != 0 { return }
      joinFinished()
      let connection = acceptWaiting(descriptor)
      if connection < 0 { continue }
      _ = fcntl(connection, F_SETFL, O_NONBLOCK)
      let work = welcome(connection)
      crew.withLock { crew in
        let number = crew.count
        crew.count += 1
        crew.working[number] = startJoinableThread(named: name) {
          work()
          self.crew.withLock { crew in
            if let own = crew.working.removeValue(forKey: number) { crew.finished.append(own) }
          }
        }
      }
    }
  }

  /// Frees what ended threads hold, and waits while there are too many others.
  private func joinFinished() {
    var done: [pthread_t] = []
    _ = crew.wait(within: 600) { crew in
      done += crew.finished
      crew.finished = []
      return crew.working.count < Self.limit || crew.isOver
    }
    for thread in done { pthread_join(thread, nil) }
  }

  /// The address family, and the address as the system takes it.
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

/// A socket that is connected to an address of the loopback. It blocks.
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
