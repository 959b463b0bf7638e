import CFormStreamMicroHTTPD

/// A daemon of libmicrohttpd with one thread for each connection. So if an upload waits for a disk, it delays only the
/// client that sends it.
final class Daemon: Sendable {
  /// The memory for one connection. One read of a body uses at most half of it.
  private static let connectionMemory = 256 * 1024
  private static let stackSize = 512 * 1024

  /// A limit that is never reached, because the connection table enforces the real limit. libmicrohttpd closes connections
  /// above its own limit, and hangs if two connections arrive together and one of them is above that limit.
  private static let connectionLimit = UInt32(1 << 30)

  nonisolated(unsafe) private var daemon: OpaquePointer?
  private let callbacks: DaemonCallbacks
  private let certificate: CString?
  private let key: CString?

  /// Starts the daemon.
  ///
  /// C: `MHD_start_daemon`
  init(
    tls: Receiver.TLSIdentity?, connections: ConnectionTable, service: Service
  ) throws(NotStarted) {
    let callbacks = DaemonCallbacks(
      connections: connections, service: service, isTLS: tls != nil)
    self.callbacks = callbacks
    certificate = tls.map { CString($0.certificate) }
    key = tls.map { CString($0.key) }
    var options = formstream_daemon_options()
    options.connection_limit = Self.connectionLimit
    options.connection_memory = Self.connectionMemory
    options.stack_size = Self.stackSize
    options.certificate = certificate.map { UnsafePointer($0.start) }
    options.key = key.map { UnsafePointer($0.start) }
    callbacks.install(in: &options)
    daemon = formstream_start_daemon(&options)
    guard daemon != nil else {
      throw NotStarted(reason: callbacks.loggedText)
    }
  }

  /// The result of waiting for a client.
  enum AcceptResult {
    case accepted
    /// The client has already closed the connection, or could not be served.
    case lost
    /// No descriptors or no memory are left.
    case noRoom
    /// The socket no longer listens.
    case notListening
  }

  /// Waits for a client and accepts its connection. Must not be called after ``stop()``.
  ///
  /// C: `accept4`, `MHD_add_connection`
  func accept(from socket: ListeningSocket, in connections: ConnectionTable) -> AcceptResult {
    let accepted: (number: CInt, address: SocketAddress)
    switch socket.accept() {
    case .connection(let number, let address): accepted = (number, address)
    case .none(let result): return result
    }
    guard connections.reserve(for: accepted.address, socket: accepted.number) else {
      Socket(accepted.number).close()
      return .lost
    }
    let result = accepted.address.withBytes {
      formstream_add_connection(daemon, accepted.number, $0.baseAddress, UInt32($0.count))
    }
    guard result == .YES else {
      connections.giveBack(socket: accepted.number)
      return .lost
    }
    return .accepted
  }

  /// Ends all connections and waits for their threads. Must be called exactly once.
  ///
  /// C: `MHD_stop_daemon`
  func stop() {
    MHD_stop_daemon(daemon)
    daemon = nil
  }

  /// The error if libmicrohttpd could not start.
  struct NotStarted: Error {
    /// The messages that libmicrohttpd logged.
    let reason: String
  }
}

/// A C string that keeps its address.
private final class CString: Sendable {
  nonisolated(unsafe) let start: UnsafeMutablePointer<CChar>

  init(_ text: String) {
    start = .allocate(capacity: text.utf8.count + 1)
    var end = start
    for byte in text.utf8 {
      end.initialize(to: CChar(bitPattern: byte))
      end += 1
    }
    end.initialize(to: 0)
  }

  deinit { start.deallocate() }
}
