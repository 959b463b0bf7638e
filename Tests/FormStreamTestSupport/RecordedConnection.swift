/// A connection that a `ScriptedServer` accepted.
public struct RecordedConnection: Sendable {
  /// How a connection ended.
  public enum End: Sendable, Hashable {
    /// The client closed it.
    case closedByClient
    /// The client reset it.
    case resetByClient
    /// The script closed it.
    case closedByServer
    /// The script reset it.
    case resetByServer
    /// The server was stopped.
    case serverStopped
  }

  /// Its place in the order in which connections were accepted.
  public internal(set) var index = 0
  /// Its requests, in their order.
  public internal(set) var requests: [RecordedRequest] = []
  /// How many bytes were received in all.
  public internal(set) var received = 0
  /// How many bytes were sent in all.
  public internal(set) var sent = 0
  /// Bytes that arrived before the first request and belong to none.
  public internal(set) var stray: [UInt8] = []
  /// How it ended, or nil if it is open.
  public internal(set) var end: End?
}

/// Everything that a server has recorded.
struct ServerLog {
  var connections: [RecordedConnection] = []
  var requests: [RecordedRequest] = []
  var faults: [WireFault] = []
}
