/// The alerts of TLS that mean something here (RFC 8446 §6, IANA's TLS Alerts).
enum TLSAlert {
  static let closeNotify: UInt8 = 0
  static let handshakeFailure: UInt8 = 40
  static let protocolVersion: UInt8 = 70
  static let certificateRequired: UInt8 = 116

  /// Those about a client's certificate: bad_certificate, unsupported_certificate, certificate_revoked, certificate_expired,
  /// certificate_unknown, unknown_ca, access_denied and certificate_required.
  static let refusingClients: Set<UInt8> = [42, 43, 44, 45, 46, 48, 49, certificateRequired]
}
