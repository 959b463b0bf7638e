/// A piece of the traffic, for people to read. Secrets are masked.
public struct TransferTrace: Sendable, CustomStringConvertible {
  /// The kind of traffic that a trace shows.
  public enum Kind: Sendable {
    /// The head of a request that was sent.
    case requestHead
    /// The head of a response that arrived.
    case responseHead
    /// What the library does and why: connections, waits, redirects.
    case note
  }

  /// The kind of traffic that the text shows.
  public let kind: Kind
  /// One or more lines, without a line break at the end.
  public let text: String
  /// The tag of the request; see ``TransferRequest/tag``.
  public let tag: (any Sendable)?

  /// The lines as curl's `-v` marks them: `>` was sent, `<` was received, `*` is a note.
  public var description: String {
    let mark =
      switch kind {
      case .requestHead: ">"
      case .responseHead: "<"
      case .note: "*"
      }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { "\(mark) \($0)" }
      .joined(separator: "\n")
  }
}
