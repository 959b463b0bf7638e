/// The certificates that a server shows, and the result of the platform's check. A program decides on the certificates
/// in ``TransferSession/Configuration/serverTrust``.
public struct ServerTrust: Sendable, Hashable {
  /// Whether requests are sent to the server.
  @frozen public enum Decision: Sendable, Hashable {
    /// Requests are sent, whatever the platform's check says.
    case trust
    /// No request is sent, whatever the platform's check says.
    case refuse
  }

  /// The server that the request is for.
  public let origin: HTTPURL.Origin
  /// The certificates as the server sent them, in DER, the server's own first.
  public let certificates: [[UInt8]]
  /// Why the platform's check refuses the certificates for this host, in words for people; nil if it trusts them.
  public let problem: String?

  /// Whether the platform's check trusts the certificates for this host.
  public var isVerified: Bool { problem == nil }

  /// The decision of the platform's check.
  public var platformDecision: Decision { isVerified ? .trust : .refuse }

  init(_ origin: HTTPURL.Origin, _ certificates: [[UInt8]], problem: String?) {
    self.origin = origin
    self.certificates = certificates
    self.problem = problem
  }
}
