/// Something that a client must not do.
public struct WireFault: Sendable, Hashable, CustomStringConvertible {
  /// The kinds of faults.
  public enum Kind: Sendable, Hashable {
    /// Both framings, a second Content-Length, or a framing that can't be read.
    case framing
    /// A bare LF, a bad request line, a bad header line, a bad chunk.
    case syntax
    /// Bytes after the end of a body that are not a request.
    case surplus
    /// The client closed the connection in the middle of a request that had no response yet. A client that can't
    /// complete its body has to do this, so tests may allow it.
    case cutShort
    /// A request for which there is no script.
    case unexpected
  }

  /// The kind of fault.
  public let kind: Kind
  /// The request's number, or nil if there is no request.
  public let request: Int?
  /// What was wrong.
  public let what: String

  /// All of it in one line.
  public var description: String {
    (request.map { "request \($0): " } ?? "") + what
  }
}
