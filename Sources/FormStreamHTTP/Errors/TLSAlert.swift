/// The alerts of TLS that this module needs (RFC 8446 §6, IANA's TLS Alerts).
enum TLSAlert {
  static let closeNotify: UInt8 = 0
  static let handshakeFailure: UInt8 = 40
  static let protocolVersion: UInt8 = 70
  static let certificateRequired: UInt8 = 116

  /// The name of an alert, or its number.
  static func name(of alert: UInt8) -> String { names[alert] ?? "\(alert)" }

  /// The names of the alerts (RFC 8446 §6).
  private static let names: [UInt8: String] = [
    0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 22: "record_overflow",
    40: "handshake_failure", 42: "bad_certificate", 43: "unsupported_certificate",
    44: "certificate_revoked", 45: "certificate_expired", 46: "certificate_unknown",
    47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied", 50: "decode_error",
    51: "decrypt_error", 70: "protocol_version", 71: "insufficient_security",
    80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled",
    109: "missing_extension", 110: "unsupported_extension", 112: "unrecognized_name",
    113: "bad_certificate_status_response", 115: "unknown_psk_identity",
    116: "certificate_required", 120: "no_application_protocol",
  ]

  /// The alerts about a client's certificate: bad_certificate, unsupported_certificate, certificate_revoked,
  /// certificate_expired, certificate_unknown, unknown_ca, access_denied and certificate_required.
  static let refusingClients: Set<UInt8> = [42, 43, 44, 45, 46, 48, 49, certificateRequired]
}
