/// Whether a request sends `Expect: 100-continue`, and waits for the response before it sends the body
/// (RFC 9110 §10.1.1).
public struct ContinuePolicy: Hashable, Sendable {
  enum Kind: Hashable {
    case automatic, always, never
  }

  /// The largest body that `automatic` sends without asking first.
  static let largestUnasked: Int64 = 1024 * 1024

  let kind: Kind
  /// How long to wait for the response. After that time, the body is sent without a response.
  public var timeout: Duration = .seconds(1)

  /// For bodies over 1 MiB or of unknown length, unless the server ignored the header before.
  public static let automatic = ContinuePolicy(kind: .automatic)
  /// For every body.
  public static let always = ContinuePolicy(kind: .always)
  /// Never.
  public static let never = ContinuePolicy(kind: .never)
}
