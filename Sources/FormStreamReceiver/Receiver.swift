import FormStreamPlatform

/// An embedded HTTP server for uploads: it accepts forms, URL-encoded fields, and bodies of any type, by POST or PUT,
/// at any path.
///
/// Bodies are handled as they arrive, in memory that does not grow with them. The response is a record of what was
/// received (`formstream.received/2`).
///
/// ```swift
/// let receiver = try Receiver.start(handler: try DirectoryHandler("received"))
/// print("Listening on \(receiver.url)")
/// await receiver.wait()
/// ```
///
/// It supports HTTP/1.1, with TLS if a certificate is configured, and uses one thread for each connection. It runs
/// until it is stopped or released.
public final class Receiver: Sendable {
  private struct Ending {
    var isOver = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// The port that the receiver listens on.
  public let port: UInt16
  /// The URL that clients can use, such as `http://127.0.0.1:8080/`. If the receiver listens on all addresses, the URL
  /// is for clients on this machine.
  public let url: String
  let scheme: String
  /// The address to listen on, as it was configured.
  let address: String
  let isLoopbackOnly: Bool

  private let connections: ConnectionTable
  private let ending = Guarded(Ending())

  /// Starts a receiver.
  ///
  /// - Parameters:
  ///   - configuration: the settings, such as the address, the token and the limits.
  ///   - handler: decides what happens to uploads.
  ///   - onRequest: called after each upload and each refused request, on the thread of the connection.
  ///   - onHead: called with the head of each request, before the request is checked, on the thread of the connection. A
  ///     head that is too broken to be read is not reported.
  /// - Throws: `addressUnusable`, `certificateUnusable`, `tokenUnusable`, `uploadsUnusable` or `startFailed`.
  public static func start(
    _ configuration: Configuration = Configuration(), handler: some UploadHandler,
    onRequest: @escaping @Sendable (ReceivedRequest) -> Void = { _ in },
    onHead: @escaping @Sendable (UploadRequest) -> Void = { _ in }
  ) throws(ReceiverError) -> Receiver {
    var configuration = configuration
    configuration.limits = configuration.limits.bounded
    let service = try Service(
      configuration, handler: handler, onRequest: onRequest, onHead: onHead)
    do throws(ReceiverError) {
      return try Receiver(configuration, service)
    } catch {
      service.stop()
      service.close()
      throw error
    }
  }

  private init(_ configuration: Configuration, _ service: Service) throws(ReceiverError) {
    // With an empty token, any client with an empty password would be accepted.
    guard configuration.token != "" else {
      throw ReceiverError(
        .tokenUnusable, on: "the token",
        "The token is empty: set a token, or nil to accept every client.")
    }
    let socket = try Self.listen(on: configuration.address, port: configuration.port)
    let limits = configuration.limits
    let each = service.descriptorsOfConnection
    let wantedDescriptors =
      each * min(limits.connections, 1 << 20) + ConnectionTable.mostRefused + spareDescriptors
    let connections = ConnectionTable(
      limits, freeDescriptors: freeDescriptors(upTo: wantedDescriptors) - spareDescriptors,
      each: each)
    self.connections = connections
    port = socket.port
    address = configuration.address
    isLoopbackOnly = configuration.isLoopbackOnly
    scheme = configuration.tls == nil ? "http" : "https"
    let host =
      AddressKind(address) == .unspecified
      ? "localhost" : address.contains(":") ? "[\(address)]" : address
    url = "\(scheme)://\(host):\(socket.port)/"
    let daemon: Daemon
    do throws(Daemon.NotStarted) {
      daemon = try Daemon(tls: configuration.tls, connections: connections, service: service)
    } catch {
      socket.close()
      throw Self.notStarted(configuration, error.reason)
    }
    let acceptLoopEnded = AutoResetEvent()
    guard
      startThread(
        "formstream-acc",
        {
          Self.acceptLoop(daemon, socket, connections)
          connections.endAccepting()
          acceptLoopEnded.signal()
        })
    else {
      daemon.stop()
      socket.close()
      throw Self.notStarted(configuration, "no thread is left")
    }
    let ending = ending
    let isStarted = startThread("formstream-end") {
      connections.monitor(
        socket, lastResponse: { service.lastResponse }, onStop: { service.stop() })
      socket.stopListening()
      acceptLoopEnded.wait(atMost: nil)
      connections.cutRest()
      daemon.stop()
      socket.close()
      service.close()
      let waiting = ending.withLock { ending in
        ending.isOver = true
        return ending.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
    guard isStarted else {
      connections.close(within: .zero)
      socket.stopListening()
      acceptLoopEnded.wait(atMost: nil)
      daemon.stop()
      socket.close()
      throw Self.notStarted(configuration, "no thread is left")
    }
  }

  /// Stops the receiver, and cuts off requests in progress.
  deinit { connections.close(within: .zero) }

  /// Stops the receiver: refuses new requests, gives requests in progress at most `grace` to finish, and returns when no
  /// handler and no `onRequest` is running any more. A handler or `onRequest` must not wait for this call.
  public func stop(grace: Duration = .seconds(10)) async {
    connections.close(within: grace)
    await wait()
  }

  /// Begins to stop the receiver; see ``stop(grace:)``.
  package func beginStopping(grace: Duration) { connections.close(within: grace) }

  /// Like ``wait()``, but blocks the thread. Unlike a task, a blocked thread needs no descriptors.
  package func blockUntilStopped() { ending.waitUntil(\.isOver) { _ in } }

  /// Waits until the receiver has been stopped, and all its connections and threads have ended; returns at once if they have.
  /// This call doesn't stop the receiver, and goes on if its task is cancelled.
  public func wait() async {
    await withCheckedContinuation { continuation in
      let isOver = ending.withLock { ending in
        if !ending.isOver { ending.waiting.append(continuation) }
        return ending.isOver
      }
      if isOver { continuation.resume() }
    }
  }
}

/// How many descriptors the connections leave free for the rest of the program, and for directories that are open for a
/// moment.
private let spareDescriptors = 16

extension Receiver {
  /// Accepts connections while there is room, until the socket no longer listens.
  private static func acceptLoop(
    _ daemon: Daemon, _ socket: ListeningSocket, _ connections: ConnectionTable
  ) {
    // `waitForRoom()` may close a connection to make room, so it is only called while a client waits.
    while socket.waitForClient() {
      connections.waitForRoom()
      switch daemon.accept(from: socket, in: connections) {
      case .accepted, .lost: continue
      case .noRoom: connections.waitForResources()
      case .notListening: return
      }
    }
  }

  private static func listen(
    on text: String, port: UInt16
  ) throws(ReceiverError) -> ListeningSocket {
    guard let address = SocketAddress(text, port: port) else {
      throw ReceiverError(
        .addressUnusable, on: text,
        "\(text.quoted) is not an address to listen on: use a numeric IPv4 or IPv6 address, or localhost."
      )
    }
    do throws(SystemError) {
      return try ListeningSocket(on: address)
    } catch {
      throw ReceiverError(
        .addressUnusable, on: address.description,
        "Can't listen on \(address): \(error). Choose another address or port; port 0 means any free port.",
        underlying: error)
    }
  }

  private static func notStarted(
    _ configuration: Configuration, _ reason: String
  ) -> ReceiverError {
    let reason = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
    guard configuration.tls == nil else {
      let details = reason.isEmpty ? "the certificate or its key is invalid." : reason
      return ReceiverError(
        .certificateUnusable, on: "the certificate",
        "TLS can't be used: \(details) Use a certificate and the key that belongs to it, both as PEM, the key without "
          + "a password.")
    }
    return ReceiverError(
      .startFailed, on: configuration.address,
      "The receiver can't be started: \(reason). Check that memory and threads are available.")
  }
}
