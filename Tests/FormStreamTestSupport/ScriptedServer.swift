/// A server on the loopback, for tests of clients. It does what a script says, notes what it is sent, and
/// what of that no client should send (`faults`).
///
/// Of each request it reads the head, and then asks for its script:
///
///     let server = try ScriptedServer { request in
///       switch (request.connection, request.index) {
///       case (0, 0): .good()
///       case (0, 1): [.readBody, .close]
///       default: .good(201)
///       }
///     }
///
/// At the end of a script the rest of the body is read, and then the next request of the connection, if
/// the script did not close it. Each connection has a thread of its own.
public final class ScriptedServer: Sendable {
  /// Decides what is done with a request, of which it knows the head.
  public typealias Script = @Sendable (RecordedRequest) -> [ScriptedStep]

  /// What can be set of a server.
  public struct Options: Sendable {
    /// `SO_RCVBUF` of the connections; the system's where nil.
    public var receiveBuffer: Int?
    /// How many bytes of a body are kept.
    public var keptBodyLimit = 8 << 20
    /// Done with each connection before its first request is read, by the connection's index.
    public var onConnect: (@Sendable (Int) -> [ScriptedStep])?
    /// Is given all bytes of all bodies as they come, with the request's number. It is called on the
    /// connections' threads.
    public var onBody: (@Sendable (Int, UnsafeRawBufferPointer) -> Void)?

    /// All as it is by itself.
    public init() {}
  }

  /// The port; 0 for a socket in the file system.
  public var port: UInt16 { listener.port }
  /// Where it listens, for a URL: `http://127.0.0.1:40123`, without a slash at its end.
  public let url: String

  private let listener: LoopbackListener
  private let log = Guarded(ServerLog())

  /// Starts a server that asks for a script for each request.
  public init(
    on address: LoopbackAddress = .local, _ options: Options = Options(),
    script: @escaping Script
  ) throws {
    let listener = try LoopbackListener(address, receiveBuffer: options.receiveBuffer)
    self.listener = listener
    url =
      switch address {
      case .ip(let host, _) where host.contains(":"): "http://[\(host)]:\(listener.port)"
      case .ip(let host, _): "http://\(host):\(listener.port)"
      case .unix: "http://localhost"
      }
    let log = self.log
    listener.start { descriptor in
      let index = log.withLock { log in
        var record = RecordedConnection()
        record.index = log.connections.count
        log.connections.append(record)
        return record.index
      }
      return {
        ScriptedConnection(
          descriptor, index, log: log, stopping: listener.stopping, options: options,
          script: script
        ).serve()
      }
    }
  }

  /// Starts a server that has a script for each request, in the order in which their heads come,
  /// whatever their connections. One request more is a fault, and its connection is closed.
  public convenience init(
    on address: LoopbackAddress = .local, _ options: Options = Options(),
    requests scripts: [[ScriptedStep]]
  ) throws {
    try self.init(on: address, options) { request in
      request.number < scripts.count ? scripts[request.number] : [.unexpected]
    }
  }

  deinit { stop() }

  /// Ends all connections, and returns when no thread and no descriptor of them is left. What was noted
  /// stays. Where a socket lies in the file system, it goes on lying there.
  public func stop() { listener.stop() }

  /// Where it listens, by another name of this host.
  public func url(host: String) -> String { "http://\(host):\(port)" }

  /// All requests, in the order in which their heads were whole.
  public var requests: [RecordedRequest] { log.withLock { $0.requests } }

  /// All connections, in the order in which they were let in.
  public var connections: [RecordedConnection] {
    log.withLock { log in
      log.connections.map { connection in
        var connection = connection
        connection.requests = log.requests.filter { $0.connection == connection.index }
        return connection
      }
    }
  }

  /// All that no client should have done, in the order in which it was seen. A client that has to break
  /// off does `cutShort`: `faults(except: .cutShort)` tells the others.
  public var faults: [WireFault] { log.withLock { $0.faults } }

  /// The faults that are not of these kinds.
  public func faults(except kinds: WireFault.Kind...) -> [WireFault] {
    faults.filter { !kinds.contains($0.kind) }
  }

  /// How many requests announced a body of which all came.
  public var completeBodyCount: Int { requests.count { $0.hasCompleteBody } }

  /// Waits until so many requests' heads have come; false where they don't within a minute.
  public func waitForRequests(_ count: Int) -> Bool {
    log.wait(within: 60) { $0.requests.count >= count }
  }

  /// Waits until all connections, and at least so many, have ended; false where they don't within a
  /// minute. After that nothing that was sent is missing in the notes.
  public func waitForEnds(_ count: Int = 1) -> Bool {
    log.wait(within: 60) { log in
      log.connections.count >= count && log.connections.allSatisfy { $0.end != nil }
    }
  }

  /// Waits until `isSo` holds of the requests; false where it doesn't within a minute.
  public func wait(until isSo: ([RecordedRequest]) -> Bool) -> Bool {
    log.wait(within: 60) { isSo($0.requests) }
  }
}
