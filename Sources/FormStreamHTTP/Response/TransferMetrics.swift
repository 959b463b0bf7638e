/// When the steps of a request's last attempt ended, and where its connection led to: for measurements.
///
/// All times are counted from the beginning of the attempt. A time is nil if the attempt did not reach its step. On a
/// connection that was made for an earlier request, the first three times are short.
public struct TransferMetrics: Sendable, Hashable {
  /// An end of a connection.
  public struct Endpoint: Sendable, Hashable {
    /// An IPv4 or IPv6 address, without brackets.
    public let address: String
    /// The port.
    public let port: Int
  }

  /// Until the host's address was known.
  public let lookup: Duration?
  /// Until there was a connection to the server, or to the proxy.
  public let connect: Duration?
  /// Until the TLS handshake was complete; nil without TLS.
  public let handshake: Duration?
  /// Until the request could be sent.
  public let ready: Duration?
  /// Until the first byte of a response arrived, even of an interim response such as 100.
  public let firstByte: Duration?
  /// Whether the connection was made for an earlier request.
  public let isConnectionReused: Bool
  /// The server, or the proxy; nil without a connection, and over a Unix-domain socket.
  public let remote: Endpoint?
  /// The local end of the connection; nil in the same cases as `remote`.
  public let local: Endpoint?
}
