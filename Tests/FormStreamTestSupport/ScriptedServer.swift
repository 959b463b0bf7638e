import FormStreamPlatform

/// A server on the loopback for tests of clients. It follows a script, records the requests, and records what no
/// client should send as `faults`.
///
/// It reads the head of each request and asks for the request's script:
///
///     let server = try ScriptedServer { request in
///       switch (request.connection, request.index) {
///       case (0, 0): .good()
///       case (0, 1): [.readBody, .close]
///       default: .good(201)
///       }
///     }
///
/// After a script it reads the rest of the body and the next request of the connection, unless the script closed
/// it. Each connection has its own thread.
public final class ScriptedServer: Sendable {
  /// Decides what to do with a request, of which the head has arrived.
  public typealias Script = @Sendable (RecordedRequest) -> [ScriptedStep]

  /// The options of a server.
  public struct Options: Sendable {
    /// Whether connections are accepted from the start, or refused until `startListening`.
    public var isListening = true
    /// How many bytes of each body are kept.
    public var keptBodyLimit = 8 << 20
    /// The steps for a connection before its first request, by the connection's index.
    public var onConnect: (@Sendable (Int) -> [ScriptedStep])?
    /// Receives the bytes of all bodies as they arrive, with the request's number. It is called on the threads of
    /// the connections.
    public var onBody: (@Sendable (Int, UnsafeRawBufferPointer) -> Void)?

    /// The defaults.
    public init() {}
  }

  /// The port, or 0 for a socket in the file system.
  public var port: UInt16 { listener.port }
  /// The URL, without a slash at its end: `http://127.0.0.1:40123`.
  public let url: String

  private let listener: LoopbackListener
  private let accept: @Sendable (Int32) -> LoopbackListener.Work
  private let log = Guarded(ServerLog())

  /// Starts a server that asks for a script for each request.
  public init(
    on address: LoopbackAddress = .local, _ options: Options = Options(),
    script: @escaping Script
  ) throws {
    let listener = try LoopbackListener(address, isListening: options.isListening)
    self.listener = listener
    url =
      switch address {
      case .ip(let host, _) where host.contains(":"): "http://[\(host)]:\(listener.port)"
      case .ip(let host, _): "http://\(host):\(listener.port)"
      case .unix: "http://localhost"
      }
    let log = self.log
    accept = { descriptor in
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
    if options.isListening { startListening() }
  }

  /// Starts a server with a script for each request, in the order in which their heads arrive on all connections.
  /// One request more is a fault, and its connection is closed.
  public convenience init(
    on address: LoopbackAddress = .local, _ options: Options = Options(),
    requests scripts: [[ScriptedStep]]
  ) throws {
    try self.init(on: address, options) { request in
      request.number < scripts.count ? scripts[request.number] : [.unexpected]
    }
  }

  deinit { stop() }

  /// Ends all connections, and returns when their threads and descriptors are gone. The records stay, and so does
  /// a socket in the file system.
  public func stop() { listener.stop() }

  /// Accepts connections, if it doesn't yet.
  public func startListening() { listener.start(accept) }

  /// Refuses connections from here on. Those that were accepted stay.
  public func stopListening() { listener.refuse() }

  /// The URL with another name of this host.
  public func url(host: String) -> String { "http://\(host):\(port)" }

  /// All requests, in the order in which their heads were complete.
  public var requests: [RecordedRequest] { log.withLock { $0.requests } }

  /// All connections, in the order in which they were accepted.
  public var connections: [RecordedConnection] {
    log.withLock { log in
      log.connections.map { connection in
        var connection = connection
        connection.requests = log.requests.filter { $0.connection == connection.index }
        return connection
      }
    }
  }

  /// How many connections were accepted or wait to be accepted; of those that wait, one is counted. A client that
  /// has connected is always counted.
  public var connectionCount: Int {
    listener.betweenAccepts { isWaiting in
      log.withLock { $0.connections.count } + (isWaiting ? 1 : 0)
    }
  }

  /// What no client should have done, in the order in which it was seen. For a client that can't complete its body,
  /// `faults(except: .cutShort)` returns the others.
  public var faults: [WireFault] { log.withLock { $0.faults } }

  /// The faults of all other kinds.
  public func faults(except kinds: WireFault.Kind...) -> [WireFault] {
    faults.filter { !kinds.contains($0.kind) }
  }

  /// How many requests had a body that arrived completely.
  public var completeBodyCount: Int { requests.count { $0.hasCompleteBody } }

  /// Waits until that many heads of requests have arrived. Returns false after a minute.
  public func waitForRequests(_ count: Int) -> Bool {
    log.wait(within: 60) { $0.requests.count >= count }
  }

  /// Waits until all connections, and at least that many, have ended. After that the records are complete. Returns
  /// false after a minute.
  public func waitForEnds(_ count: Int = 1) -> Bool {
    log.wait(within: 60) { log in
      log.connections.count >= count && log.connections.allSatisfy { $0.end != nil }
    }
  }

  /// Waits until a condition of the requests is true. Returns false after a minute.
  public func wait(until condition: ([RecordedRequest]) -> Bool) -> Bool {
    log.wait(within: 60) { condition($0.requests) }
  }
}
