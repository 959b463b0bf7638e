/// A header line as it was received.
public struct RecordedHeader: Sendable, Hashable {
  /// The name, in the case in which it arrived.
  public var name: String
  /// The value, without the white space around it.
  public var value: String

  /// Makes a header to compare with.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// How a message marks the end of its body (RFC 9112 §6).
public enum RecordedFraming: Sendable, Hashable {
  /// There is no body.
  case none
  /// A Content-Length.
  case contentLength(Int)
  /// Chunks.
  case chunked
  /// Both a Content-Length and chunks. The body is read by chunks.
  case both(contentLength: String)
  /// The end of the connection; in responses only.
  case untilClose
  /// A framing that can't be read. No byte of the body is read.
  case invalid
}

/// A request that a `ScriptedServer` received, as far as it arrived.
public struct RecordedRequest: Sendable {
  /// Its place among all requests of the server, in the order in which their heads were complete.
  public internal(set) var number = 0
  /// The connection's place, in the order in which connections were accepted.
  public internal(set) var connection = 0
  /// Its place among the requests of its connection.
  public internal(set) var index = 0

  /// The method, such as `POST`.
  public internal(set) var method = ""
  /// The target, as it stands in the request line.
  public internal(set) var target = ""
  /// All bytes of the head, with the empty line at its end.
  public internal(set) var head: [UInt8] = []
  /// The header lines in their order.
  public internal(set) var headers: [RecordedHeader] = []
  /// How the body's end is marked.
  public internal(set) var framing = RecordedFraming.none

  /// The body without its framing, up to the server's `keptBodyLimit`.
  public internal(set) var body: [UInt8] = []
  /// How many bytes of the body arrived, kept or not.
  public internal(set) var bodyCount = 0
  /// Whether the complete body arrived; true if there is none.
  public internal(set) var bodyIsComplete = false
  /// The sizes of the first 10,000 chunks, without the last one, which is 0.
  public internal(set) var chunkSizes: [Int] = []
  /// The header lines after the last chunk.
  public internal(set) var trailers: [RecordedHeader] = []
  /// Bytes after the body's end that are not a request. Each is a fault.
  public internal(set) var surplus: [UInt8] = []
  /// The status of the final response, or nil if none was sent.
  public internal(set) var responseStatus: Int?
  /// How many bytes of the body had arrived when the final response was sent.
  public internal(set) var bodyCountAtResponse: Int?

  /// The value of the first header of that name, in any case.
  public func header(_ name: String) -> String? { values(of: name).first }

  /// The values of all headers of that name, in any case.
  public func values(of name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
  public var expectsContinue: Bool { header("Expect")?.lowercased() == "100-continue" }

  /// Whether it announced a body, and the complete body arrived.
  public var hasCompleteBody: Bool { framing != .none && bodyIsComplete }
}
