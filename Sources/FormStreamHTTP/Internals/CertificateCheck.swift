import CFormStreamSSL

/// The check of the certificates in one TLS handshake: that of the system, and what the program decides after it.
///
/// It is called by libssl on the engine's thread. libssl keeps it as long as the connection may ask for it again.
final class CertificateCheck {
  /// What the system's check found against the certificates; nil if nothing, or if there was no check.
  private(set) var problem: CertificateProblem?
  /// What the program has to be asked; nil if nothing.
  private(set) var question: ServerTrust?
  /// What the program has refused; nil if nothing.
  private(set) var refused: ServerTrust?
  /// Whether the program trusts certificates that the system's check refuses.
  private(set) var isOverridden = false

  /// The number of the OpenSSL that is in use, before its first dot.
  ///
  /// C: `OpenSSL_version_num`
  static var libraryVersion: UInt { OpenSSL_version_num() >> 28 }

  /// The host that the handshake is with.
  private let host: String
  private let origin: HTTPURL.Origin
  private let decisions: ServerTrustDecisions?

  /// - Parameter decisions: what the program decides; nil if the system's check does.
  init(of host: String, _ origin: HTTPURL.Origin, _ decisions: ServerTrustDecisions?) {
    self.host = host.filter { $0 != "[" && $0 != "]" }
    self.origin = origin
    self.decisions = decisions
  }

  /// Where libssl keeps the check. It releases it with the connection's settings.
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

  /// Takes the place of the system's check, which it calls. Returns false if that fails.
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

  /// Checks the certificates in a handshake. Without decisions of the program, libcurl checks the host, too.
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
    // libcurl names the host as it is in certificates: without a dot at its end, in ASCII. It names no addresses.
    let name = ServerCertificate.serverName(in: store) ?? host
    return certificate.isFor(name) ? nil : .wrongHost(name, names: certificate.names)
  }
}
