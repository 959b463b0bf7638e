/// A header line as it was sent.
public struct RecordedHeader: Sendable, Hashable {
  /// The name, in the case that it came in.
  public var name: String
  /// The value, without the white space around it.
  public var value: String

  /// Makes one, to compare with.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// How a request says where its body ends (RFC 9112 §6).
public enum RecordedFraming: Sendable, Hashable {
  /// There is no body.
  case none
  /// By this Content-Length.
  case contentLength(Int)
  /// By chunks.
  case chunked
  /// It says both. The body is read by chunks.
  case both(contentLength: String)
  /// It says what can't be understood: nothing is read.
  case invalid
}

/// A request that a `ScriptedServer` was sent, so far as it came.
public struct RecordedRequest: Sendable {
  /// Its place among all requests of the server, in the order in which their heads were whole.
  public internal(set) var number = 0
  /// The connection's place, in the order in which they were let in.
  public internal(set) var connection = 0
  /// Its place among the requests of its connection.
  public internal(set) var index = 0

  /// `POST`, …
  public internal(set) var method = ""
  /// The target, as it stands in the request line.
  public internal(set) var target = ""
  /// All bytes of the head, with the empty line at its end.
  public internal(set) var head: [UInt8] = []
  /// The header lines in their order.
  public internal(set) var headers: [RecordedHeader] = []
  /// How the body's end is told.
  public internal(set) var framing = RecordedFraming.none

  /// The body without its framing, as far as the server keeps it; see `bodyCount`.
  public internal(set) var body: [UInt8] = []
  /// How many bytes the body had, kept or not.
  public internal(set) var bodyCount = 0
  /// Whether the body came to its end; true where there is none.
  public internal(set) var bodyIsComplete = false
  /// The sizes of the chunks, the last one (0) left out; of the first 10,000.
  public internal(set) var chunkSizes: [Int] = []
  /// The lines behind the last chunk.
  public internal(set) var trailers: [RecordedHeader] = []
  /// What came behind the body's end and is no request. Each of these is a fault.
  public internal(set) var surplus: [UInt8] = []
  /// The status of the final answer that was sent; nil where none was.
  public internal(set) var responseStatus: Int?
  /// How many bytes of the body had come when the final answer began to leave.
  public internal(set) var bodyCountAtResponse: Int?

  /// The value of the first header of that name, whatever its case.
  public func header(_ name: String) -> String? { values(of: name).first }

  /// The values of all headers of that name, whatever its case.
  public func values(of name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// Whether it waits for leave to send its body (RFC 9110 §10.1.1).
  public var expectsContinue: Bool { header("Expect")?.lowercased() == "100-continue" }

  /// Whether it announced a body, and all of it came.
  public var hasCompleteBody: Bool { framing != .none && bodyIsComplete }
}

/// A connection that a `ScriptedServer` let in.
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

  /// Its place in the order in which connections were let in.
  public internal(set) var index = 0
  /// Its requests, in their order.
  public internal(set) var requests: [RecordedRequest] = []
  /// How many bytes were received in all.
  public internal(set) var received = 0
  /// How many bytes were sent in all.
  public internal(set) var sent = 0
  /// Bytes that came instead of a request, before any.
  public internal(set) var stray: [UInt8] = []
  /// How it ended; nil while it lives.
  public internal(set) var end: End?
}

/// Something that a client must not do.
public struct WireFault: Sendable, Hashable, CustomStringConvertible {
  /// The kinds of faults.
  public enum Kind: Sendable, Hashable {
    /// Both framings, a second Content-Length, or a framing that can't be understood.
    case framing
    /// A bare LF, a bad request line, a bad header line, a bad chunk.
    case syntax
    /// Bytes behind the end of a body that are no request.
    case surplus
    /// The client ended the connection, in order, in the middle of a request that was not answered yet.
    /// This is what a client has to do that can't complete its body; so it can be allowed.
    case cutShort
    /// More requests than the script has answers for.
    case unexpected
  }

  /// What kind of fault it is.
  public let kind: Kind
  /// The request's number; nil where it came to none.
  public let request: Int?
  /// What was wrong.
  public let what: String

  /// All of it in one line.
  public var description: String {
    (request.map { "request \($0): " } ?? "") + what
  }
}

/// All that a server has noted.
struct ServerLog {
  var connections: [RecordedConnection] = []
  var requests: [RecordedRequest] = []
  var faults: [WireFault] = []
}
