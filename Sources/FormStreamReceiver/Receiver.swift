import FormStreamMultipart

/// An embedded HTTP server that takes uploads: forms, URL-encoded fields, and bodies of any type, by POST or PUT, to
/// any path.
///
/// Bodies are handled as they come, in memory that does not grow with them; what is answered is a record of
/// what came (`formstream.received/1`).
///
/// ```swift
/// let receiver = try Receiver.start(handler: try DirectoryHandler("received"))
/// print("Listening at \(receiver.url)")
/// await receiver.wait()
/// ```
///
/// It speaks HTTP/1.1, over TLS where it is given a certificate, and keeps a thread for each connection. It runs until
/// it is stopped, or let go.
public final class Receiver: Sendable {
  private struct Ending {
    var isOver = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// The port that is listened at.
  public let port: UInt16
  /// Where clients reach it, those of this machine where it listens at all addresses: `http://127.0.0.1:8080/`.
  public let url: String

  private let floor: Floor
  private let ending = Guarded(Ending())

  /// Starts a receiver.
  ///
  /// - Parameters:
  ///   - configuration: where it listens, who may upload, and how much.
  ///   - handler: what is done with what comes in.
  ///   - onRequest: is told of each request that uploads, or tries to, when it is over; on that connection's
  ///     thread.
  /// - Throws: `addressUnusable`, `certificateUnusable`, `tokenUnusable` or `startFailed`.
  public static func start(
    _ configuration: Configuration = Configuration(), handler: some UploadHandler,
    onRequest: @escaping @Sendable (ReceivedRequest) -> Void = { _ in }
  ) throws(ReceiverError) -> Receiver {
    try Receiver(configuration, Service(configuration, handler: handler, onRequest: onRequest))
  }

  private init(_ configuration: Configuration, _ service: Service) throws(ReceiverError) {
    // Whoever sends none would have it.
    guard configuration.token != "" else {
      throw ReceiverError(
        .tokenUnusable, on: "the token", "The token is empty: set one, or none to let everybody in."
      )
    }
    let socket = try Self.listen(at: configuration.address, port: configuration.port)
    let floor = Floor(configuration.limits) { service.bytes(of: $0, to: $1) }
    self.floor = floor
    port = socket.port
    let address = configuration.address
    let host =
      ["0.0.0.0", "::"].contains(address)
      ? "localhost" : address.contains(":") ? "[\(address)]" : address
    url = "\(configuration.tls == nil ? "http" : "https")://\(host):\(socket.port)/"
    let daemon: Daemon
    do throws(Daemon.NotStarted) {
      daemon = try Daemon(tls: configuration.tls, floor: floor, service: service)
    } catch {
      socket.close()
      throw Self.notStarted(configuration, error.reason)
    }
    let doorClosed = AutoResetEvent()
    guard
      startThread(
        "formstream-acc",
        {
          Self.keepDoor(of: daemon, at: socket, floor)
          doorClosed.signal()
        })
    else {
      daemon.stop()
      socket.close()
      throw Self.notStarted(configuration, "no thread is left")
    }
    let ending = ending
    let isStarted = startThread("formstream-end") {
      floor.watch {
        service.stop()
        socket.refuse()
      }
      doorClosed.wait(atMost: nil)
      daemon.stop()
      socket.close()
      let waiting = ending.withLock { ending in
        ending.isOver = true
        return ending.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
    guard isStarted else {
      floor.close(within: .zero)
      socket.refuse()
      doorClosed.wait(atMost: nil)
      daemon.stop()
      socket.close()
      throw Self.notStarted(configuration, "no thread is left")
    }
  }

  /// It stops, and what is in flight is cut off.
  deinit { floor.close(within: .zero) }

  /// Takes no more requests, gives those in flight so much time, and ends: when no handler and no `onRequest` is
  /// at work any more. So neither may wait for this.
  public func stop(grace: Duration = .seconds(10)) async {
    floor.close(within: grace)
    await wait()
  }

  /// Waits until it has been stopped, and all its connections and threads are gone.
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

extension Receiver {
  /// Lets clients in, as long as there is room, until the receiver is stopped.
  private static func keepDoor(of daemon: Daemon, at socket: ListeningSocket, _ floor: Floor) {
    while floor.admit() {
      switch daemon.letIn(from: socket) {
      case .letIn: continue
      case .lost: floor.dismiss()
      case .noRoom:
        floor.dismiss()
        floor.waitForRoom()
      case .over: return floor.dismiss()
      }
    }
  }

  private static func listen(
    at text: String, port: UInt16
  ) throws(ReceiverError) -> ListeningSocket {
    guard let address = SocketAddress(text, port: port) else {
      throw ReceiverError(
        .addressUnusable, on: text,
        "\(text.quoted) is no address to listen at: give a numeric one of IPv4 or IPv6, or localhost."
      )
    }
    do throws(SystemError) {
      return try ListeningSocket(at: address)
    } catch {
      throw ReceiverError(
        .addressUnusable, on: address.description,
        "\(address) can't be listened at: \(error). Choose another address or port; port 0 is any that is free.",
        underlying: error)
    }
  }

  private static func notStarted(
    _ configuration: Configuration, _ reason: String
  ) -> ReceiverError {
    let reason = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
    guard configuration.tls == nil else {
      return ReceiverError(
        .certificateUnusable, on: "the certificate",
        "TLS can't be served: \(reason.isEmpty ? "the certificate or its key is none" : reason) Give both as "
          + "PEM, the key without a password, one that belongs to the certificate.")
    }
    return ReceiverError(
      .startFailed, on: configuration.address,
      "The receiver can't be started: \(reason). See that memory and threads are left.")
  }
}
