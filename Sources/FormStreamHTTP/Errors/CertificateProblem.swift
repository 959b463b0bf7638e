import FormStreamPlatform

/// What the system's check found against a server's certificates.
enum CertificateProblem: Equatable {
  case selfSigned
  case unknownIssuer(String)
  case expired(String)
  case notYetValid(String)
  case wrongHost(String, names: [String])
  /// Another problem, in libssl's words.
  case other(String)
}

extension CertificateProblem: CustomStringConvertible {
  /// The problem, as a sentence about the certificate.
  var description: String {
    switch self {
    case .selfSigned: "it is self-signed"
    case .unknownIssuer(let issuer): "its issuer, \(issuer.quoted), is unknown"
    case .expired(let end): "it expired at \(end)"
    case .notYetValid(let start): "it is not valid before \(start)"
    case .wrongHost(let host, let names):
      "it is not for the host \(host.quoted), "
        + (names.isEmpty ? "and names none" : "but for \(names.joined(separator: ", "))")
    case .other(let text): text
    }
  }

  /// What to do about the problem.
  ///
  /// - Parameter authorities: the setting of the trusted authorities.
  func remedy(_ authorities: SettingName) -> Message {
    switch self {
    case .selfSigned:
      "Name the certificate itself as an authority (\(authorities)) if you trust it."
    case .unknownIssuer:
      "Name the authority that issued it (\(authorities)) if you trust it."
    // The key may be too weak, for example, or the certificate may be for another purpose. Trusting another authority
    // doesn't help.
    case .other: "The server needs another one."
    case .expired: "The server needs a new one. Check this machine's clock, too."
    case .notYetValid: "Check the clock of this machine and of the server."
    case .wrongHost: "Use a name that the certificate has, or give the server another certificate."
    }
  }
}

extension EncryptionFacts {
  /// The message about a certificate that is not trusted.
  ///
  /// - Parameter message: the words of what checked it, in case nothing else is known.
  func refusedCertificate(_ message: String) -> Message {
    // The authorities for proxies have a setting of their own.
    let authorities = isWithProxy ? SettingName.proxyAuthorities : .authorities
    let remedy = (problem ?? .unknownIssuer("")).remedy(authorities)
    return
      "was not sent: the \(peer)'s certificate is not trusted (\(problem?.description ?? message)). \(remedy)"
  }
}
