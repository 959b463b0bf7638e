import FormStreamPlatform

/// What is known about the encryption of a connection that failed.
struct EncryptionFacts {
  let settings: TLSSettings
  /// Whether the handshake was with the proxy, and not with the server.
  let isWithProxy: Bool
  /// The last alert of the other side (RFC 8446 §6); nil if there was none.
  let alert: UInt8?
  /// What the system's check found against the certificates.
  let problem: CertificateProblem?
  /// Whether the server ended the handshake because of the client's certificate.
  let isClientCertificateRefused: Bool
  /// Whether the server asked for a client certificate, and ended the connection without a response or a reason.
  let isClientCertificateDoubtful: Bool

  /// The possible cause of a broken connection, as a sentence that begins with a space; empty if nothing is known.
  var clientCertificateNote: Message {
    guard isClientCertificateDoubtful else { return "" }
    if settings.withholdsCertificate {
      return
        " It had asked for a client certificate, and yours is not shown to a server that a redirect led to."
    }
    return settings.certificate == nil
      ? " It had asked for a client certificate: name one (\(SettingName.clientCertificate))."
      : " It may have refused the client certificate: check it (\(SettingName.clientCertificate))."
  }

  /// The alert, for messages.
  var shownAlert: String {
    alert.map { "TLS alert \(TLSAlert.name(of: $0))" } ?? "without a reason"
  }

  var peer: String { isWithProxy ? "proxy" : "server" }

  /// What to do about a server that speaks none of the allowed versions of TLS.
  private var versionRemedy: Message {
    if !isWithProxy, settings.maximumVersion != nil {
      return "It may speak newer ones, which \(SettingName.maximumTLSVersion) forbids."
    }
    if !isWithProxy, settings.minimumVersion == .tls13 {
      return "It may speak TLS 1.2, which \(SettingName.minimumTLSVersion) forbids."
    }
    return "Older versions are not secure; it has to be updated."
  }

  /// Why there is no encryption, and what to do about it.
  func failure(_ failure: WireFailure.TLSFailure) -> Message {
    let reason = failure.reason
    if alert == TLSAlert.protocolVersion || failure.kind == .versions {
      let versions = isWithProxy ? "TLS 1.2 or newer" : settings.versions
      return ": it doesn't speak \(versions) (\(reason)). \(versionRemedy)"
    }
    if failure.kind == .noTLS {
      return
        ": it speaks no TLS there (\(reason)). Use the port for https, or http if that is right."
    }
    if alert == TLSAlert.handshakeFailure, settings.certificate == nil {
      return " (\(reason)). It may demand a client certificate (\(SettingName.clientCertificate))."
    }
    return " (\(reason))."
  }
}
