/// A request that a `ScriptedHTTP2Server` received, as far as it arrived.
public struct RecordedHTTP2Request: Sendable {
  /// Its place among all requests of the server, in the order in which their heads were complete.
  public internal(set) var number = 0
  /// The connection's place, in the order in which connections were accepted.
  public internal(set) var connection = 0
  /// Its place among the requests of its connection.
  public internal(set) var index = 0
  /// The number of its stream.
  public internal(set) var stream = 0

  /// The body, up to the server's `keptBodyLimit`.
  public internal(set) var body: [UInt8] = []
  /// How many bytes of the body arrived, kept or not. Bytes that the window allows may arrive without being asked for.
  public internal(set) var bodyCount = 0
  /// How many bytes of the body the windows have allowed the client to send.
  public internal(set) var allowedCount = 0
  /// Whether END_STREAM arrived.
  public internal(set) var isComplete = false
  /// The code of the client's RST_STREAM, or nil if none arrived.
  public internal(set) var resetByClient: Int?
  /// The status of the final response, or nil if none was sent.
  public internal(set) var responseStatus: Int?
  /// How many bytes of the body had arrived when the final response was sent.
  public internal(set) var bodyCountAtResponse: Int?
  /// Whether the request was complete when the final response was sent.
  public internal(set) var wasCompleteAtResponse = false
}

/// Everything that an HTTP/2 server has recorded.
struct HTTP2ServerLog {
  var connections: [RecordedConnection.End?] = []
  var requests: [RecordedHTTP2Request] = []
  var faults: [WireFault] = []
}
