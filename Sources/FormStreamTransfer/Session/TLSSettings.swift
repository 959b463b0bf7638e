public import FormStreamMultipart

/// Trusted authorities and the client certificate. The oldest version that is accepted is TLS 1.2.
public struct TLSSettings: Sendable, Hashable {
  /// A PEM file with the certificates of the trusted authorities; if nil, those of the system.
  public var authorities: LocalPath?
  /// A PEM file with the client's certificate.
  public var certificate: LocalPath?
  /// A PEM file with the key of the client's certificate; if nil, the key is in the certificate's file.
  public var key: LocalPath?
  /// Whether the server's certificate is verified. Without this, anybody on the network path can read and change
  /// everything.
  public var verifiesServer = true

  /// The system's authorities, and no client certificate.
  public init() {}
}
