import CFormStreamSSL

/// The check of the certificates in one TLS handshake: the system's check, and the program's decision after it.
///
/// libssl calls the check on the engine's thread, and keeps the check as long as the connection may need it again.
final class CertificateCheck {
  /// What the system's check found against the certificates; nil if it found nothing, or if there was no check.
  private(set) var problem: CertificateProblem?
  /// The certificates that the program has to be asked about; nil if there are none.
  private(set) var question: ServerTrust?
  /// The certificates that the program has refused; nil if it has refused none.
  private(set) var refused: ServerTrust?
  /// Whether the program trusts certificates that the system's check refuses.
  private(set) var isOverridden = false

  /// The major version of the OpenSSL that is in use.
  ///
  /// C: `OpenSSL_version_num`
  static var libraryVersion: UInt { OpenSSL_version_num() >> 28 }

  /// The host that the handshake is with.
  private let host: String
  private let origin: HTTPURL.Origin
  private let decisions: ServerTrustDecisions?

  /// - Parameter decisions: the program's decisions; nil if only the system's check decides.
  init(of host: String, _ origin: HTTPURL.Origin, _ decisions: ServerTrustDecisions?) {
    self.host = host.filter { $0 != "[" && $0 != "]" }
    self.origin = origin
    self.decisions = decisions
  }

  /// The index under which libssl keeps the check. libssl releases the check with the connection's settings.
  private static let index = formstream_ssl_new_context_index { _, check, _, _, _, _ in
    if let check { Unmanaged<CertificateCheck>.fromOpaque(check).release() }
  }

  /// Keeps OpenSSL from freeing its tables in `exit`: the thread of a session may still be closing connections then, and
  /// the system frees all memory anyway. If the program has used OpenSSL before, this changes nothing.
  ///
  /// C: `OPENSSL_init_crypto`
  static func keepLibraryUntilTheEnd() {
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }

  /// Installs this check in place of the system's check. This check calls the system's check. Returns false if installing
  /// fails.
  ///
  /// - Parameter settings: the `SSL_CTX` of a connection that is not used yet.
  ///
  /// C: `SSL_CTX_set_cert_verify_callback`
  func install(in settings: UnsafeMutableRawPointer) -> Bool {
    let settings = OpaquePointer(settings)
    let retained = Unmanaged.passRetained(self)
    guard Self.index >= 0, SSL_CTX_set_ex_data(settings, Self.index, retained.toOpaque()) == 1
    else {
      retained.release()
      return false
    }
    SSL_CTX_set_cert_verify_callback(
      settings,
      { store, context in
        guard let store, let context else { return 0 }
        let check = Unmanaged<CertificateCheck>.fromOpaque(context).takeUnretainedValue()
        return check.accepts(store) ? 1 : 0
      }, retained.toOpaque())
    return true
  }

  /// Checks the certificates in a handshake. If the program makes no decisions on certificates, libcurl also checks the host.
  ///
  /// C: `X509_verify_cert`, `X509_STORE_CTX_set_error`
  private func accepts(_ store: OpaquePointer) -> Bool {
    let isChainTrusted = X509_verify_cert(store) > 0
    problem = isChainTrusted ? hostProblem(store) : CertificateProblem(failedIn: store)
    guard let decisions else { return isChainTrusted }
    let trust = ServerTrust(
      origin, ServerCertificate.chain(in: store), problem: problem?.description)
    switch decisions.decision(on: trust) {
    case .trust:
      isOverridden = problem != nil
      X509_STORE_CTX_set_error(store, X509_V_OK)
      return true
    case .refuse: refused = trust
    case nil: question = trust
    }
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
    return false
  }

  private func hostProblem(_ store: OpaquePointer) -> CertificateProblem? {
    guard let own = X509_STORE_CTX_get0_cert(store) else { return nil }
    let certificate = ServerCertificate(own)
    // libcurl sends the host's name in the form that certificates use: without a dot at its end, in ASCII. For an address, it
    // sends no name.
    let name = ServerCertificate.serverName(in: store) ?? host
    return certificate.isFor(name) ? nil : .wrongHost(name, names: certificate.names)
  }
}
