import CFormStreamSSL
import FormStreamPlatform
import Glibc

/// A certificate that a server has sent, during the handshake.
struct ServerCertificate {
  /// The maximum number of names that are listed, and the maximum length of each name.
  private static let maximumNames = (count: 8, length: 64)

  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  /// The certificates as they were sent, in DER.
  ///
  /// C: `X509_STORE_CTX_get0_untrusted`, `i2d_X509`
  static func chain(in store: OpaquePointer) -> [[UInt8]] {
    let chain = X509_STORE_CTX_get0_untrusted(store)
    return (0..<max(formstream_certificate_count(chain), 0)).compactMap { index in
      guard let certificate = formstream_certificate_at(chain, index) else { return nil }
      var bytes: UnsafeMutablePointer<UInt8>?
      let count = i2d_X509(certificate, &bytes)
      guard count > 0, let bytes else { return nil }
      defer { CRYPTO_free(bytes, nil, 0) }
      return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
  }

  /// The host name that was sent to the server; nil if the host is an address.
  ///
  /// C: `SSL_get_servername`
  static func serverName(in store: OpaquePointer) -> String? {
    guard
      let connection = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
    else { return nil }
    return SSL_get_servername(OpaquePointer(connection), TLSEXT_NAMETYPE_host_name)
      .map { String(cString: $0) }
  }

  /// Whether the certificate is for a host's name or address.
  ///
  /// C: `X509_check_ip_asc`, `X509_check_host`
  func isFor(_ host: String) -> Bool {
    switch X509_check_ip_asc(handle, host, 0) {
    case 1: true
    case 0: false
    // The host is no address. RFC 6125 §6.4.3: "*" stands for a complete label.
    default:
      X509_check_host(handle, host, 0, CUnsignedInt(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS), nil) == 1
    }
  }

  /// The names and addresses that the certificate is for, or some of them. The names come from the server. So long names are
  /// left out, and also names with characters that can't be in a host.
  ///
  /// C: `X509_get_ext_d2i`, `GENERAL_NAME_get0_value`
  var names: [String] {
    guard let list = X509_get_ext_d2i(handle, NID_subject_alt_name, nil, nil) else { return [] }
    let names = OpaquePointer(list)
    defer { GENERAL_NAMES_free(names) }
    var found: [String] = []
    for index in 0..<max(formstream_name_count(names), 0)
    where found.count < Self.maximumNames.count {
      var kind: CInt = 0
      guard let name = formstream_name_at(names, index),
        let value = GENERAL_NAME_get0_value(name, &kind)
      else { continue }
      let text = value.assumingMemoryBound(to: ASN1_STRING.self)
      guard kind == GEN_DNS || kind == GEN_IPADD, let start = ASN1_STRING_get0_data(text) else {
        continue
      }
      let bytes = [UInt8](
        UnsafeBufferPointer(start: start, count: Int(max(ASN1_STRING_length(text), 0))))
      if let name = kind == GEN_DNS ? Self.shownName(bytes) : addressText(bytes) {
        found.append(name)
      }
    }
    return found
  }

  private static func shownName(_ bytes: [UInt8]) -> String? {
    let isPlain = bytes.allSatisfy { $0.isASCIILetterOrDigit || ".-_*".utf8.contains($0) }
    guard isPlain, bytes.count <= maximumNames.length else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The name of the authority that issued the certificate.
  ///
  /// C: `X509_NAME_oneline`
  var issuer: String {
    var text = [CChar](repeating: 0, count: 160)
    guard X509_NAME_oneline(X509_get_issuer_name(handle), &text, CInt(text.count)) != nil else {
      return ""
    }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// From when and until when the certificate is valid, in UTC.
  ///
  /// C: `X509_get0_notBefore`, `X509_get0_notAfter`
  var validity: (from: String, until: String) {
    (Self.text(X509_get0_notBefore(handle)), Self.text(X509_get0_notAfter(handle)))
  }

  /// C: `ASN1_TIME_to_tm`
  private static func text(_ time: UnsafePointer<ASN1_TIME>?) -> String {
    var parts = tm()
    guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return "a time that can't be read" }
    func twoDigits(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return
      "\(1900 + Int(parts.tm_year))-\(twoDigits(parts.tm_mon + 1))-\(twoDigits(parts.tm_mday)) "
      + "\(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min)) UTC"
  }
}

extension CertificateProblem {
  /// Creates the problem that the system's check found.
  ///
  /// C: `X509_STORE_CTX_get_error`, `X509_STORE_CTX_get_current_cert`
  init(failedIn store: OpaquePointer) {
    let code = X509_STORE_CTX_get_error(store)
    let certificate = X509_STORE_CTX_get_current_cert(store).map { ServerCertificate($0) }
    switch code {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: self = .selfSigned
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      self = .unknownIssuer(certificate?.issuer ?? "")
    case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired(certificate?.validity.until ?? "")
    case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid(certificate?.validity.from ?? "")
    default:
      self = .other(
        X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)")
    }
  }
}
