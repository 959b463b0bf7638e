import FormStreamPlatform

/// A server on the loopback that speaks HTTP/2 frame by frame, follows a script for each request, and records what it
/// receives. It has no TLS: clients must know that it speaks HTTP/2, or come through a `TLSProxy` with the protocol
/// `h2`.
///
///     let server = try ScriptedHTTP2Server { request in
///       request.number == 0 ? [.read(upTo: 1000), .resetStream(.refusedStream)] : .good()
///     }
///
/// The windows are opened by the scripts alone, so that it is known how much of a body can have left the client. After
/// a script the rest of the body is taken. The requests of a connection are handled side by side.
public final class ScriptedHTTP2Server: Sendable {
  /// Decides what to do with a request, of which the head has arrived.
  public typealias Script = @Sendable (RecordedHTTP2Request) -> [ScriptedHTTP2Step]

  /// The options of a server.
  public struct Options: Sendable {
    /// The window that each stream begins with. A client may send 65,535 bytes before it knows a smaller one.
    public var initialWindow = 65_535
    /// The window of the connection, which isn't opened further.
    public var connectionWindow = 0x7FFF_FFFF
    /// How many streams of a connection may be open at the same time.
    public var concurrentStreams = 100
    /// Whether connections are accepted from the start, or refused until `startListening`.
    public var isListening = true
    /// How many bytes of each body are kept.
    public var keptBodyLimit = 8 << 20
    /// The steps for a connection before its first request, by the connection's index. They can't read a body.
    public var onConnect: (@Sendable (Int) -> [ScriptedHTTP2Step])?

    /// The defaults.
    public init() {}
  }

  /// The port.
  public var port: UInt16 { listener.port }
  /// The URL, without a slash at its end: `http://127.0.0.1:40123`.
  public let url: String

  private let listener: LoopbackListener
  private let accept: @Sendable (Int32) -> LoopbackListener.Work
  private let log = Guarded(HTTP2ServerLog())

  /// Starts a server that asks for a script for each request.
  public init(
    on address: LoopbackAddress = .local, _ options: Options = Options(),
    script: @escaping Script
  ) throws {
    listener = try LoopbackListener(
      address, isListening: options.isListening)
    url =
      if case .ip(let host, _) = address { "http://\(host):\(listener.port)" } else {
        "http://localhost"
      }
    accept = { [log, stopping = listener.stopping] descriptor in
      let index = log.withLock { log in
        log.connections.append(nil)
        return log.connections.count - 1
      }
      return {
        ScriptedHTTP2Connection(
          descriptor, index, log: log, stopping: stopping, options: options, script: script
        ).serve()
      }
    }
    if options.isListening { startListening() }
  }

  deinit { stop() }

  /// Ends all connections, and returns when their threads and descriptors are gone. The records stay.
  public func stop() { listener.stop() }

  /// Accepts connections, if it doesn't yet.
  public func startListening() { listener.start(accept) }

  /// Refuses connections from here on. Those that were accepted stay.
  public func stopListening() { listener.refuse() }

  /// All requests, in the order in which their heads were complete.
  public var requests: [RecordedHTTP2Request] { log.withLock { $0.requests } }

  /// How each connection ended, in the order in which they were accepted; nil if it is open.
  public var connections: [RecordedConnection.End?] { log.withLock { $0.connections } }

  /// What no client should have done, in the order in which it was seen.
  public var faults: [WireFault] { log.withLock { $0.faults } }

  /// Waits until a condition of the requests is true. Returns false after a minute.
  public func wait(until condition: ([RecordedHTTP2Request]) -> Bool) -> Bool {
    log.wait(within: 60) { condition($0.requests) }
  }

  /// Waits until all connections, and at least that many, have ended. Returns false after a minute.
  public func waitForEnds(_ count: Int = 1) -> Bool {
    log.wait(within: 60) { $0.connections.count >= count && !$0.connections.contains(nil) }
  }
}
