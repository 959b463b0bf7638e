import FormStreamPlatform

/// What one attempt sends to authenticate itself.
struct Authorization: Sendable {
  /// The credentials that the attempt uses, or would use after a challenge; nil if there are none.
  let credentials: Credentials?
  /// The value of the attempt's `Authorization` header; nil if the attempt sends none, or sends the caller's own.
  var header: Hidden<String>?
  /// The scheme of the credentials in the header.
  var scheme: String?
  /// The Digest challenge that the header answers; nil if it answers none.
  var challenge: DigestChallenge?

  /// Whether the attempt waits for the server to ask for credentials.
  var awaitsChallenge: Bool { header == nil && credentials?.waitsForChallenge == true }
}

extension Authorization {
  /// Whether a 401 with these offers refuses the credentials that were sent. The credentials are not refused if the server says
  /// that only the nonce was too old, even if the server names the same nonce again: other requests may have used that nonce
  /// meanwhile. A 401 that asks for credentials in another realm doesn't refuse them either.
  func isRefused(by offers: [OfferedScheme]) -> Bool {
    guard header != nil else { return false }
    guard let answered = challenge, let asked = DigestChallenge.strongest(of: offers) else {
      return true
    }
    return !asked.isStale && asked.realm == answered.realm
  }

  /// Whether the credentials can answer a 401. If so, they are remembered for the protection space of the URL.
  ///
  /// Credentials that were refused are not sent again: many servers lock a user after a few wrong passwords.
  func answers(
    _ offers: [OfferedScheme], _ spaces: ProtectionSpaces, at url: HTTPURL
  ) -> Bool {
    guard let credentials, credentials.waitsForChallenge, !isRefused(by: offers) else {
      return false
    }
    func offersScheme(_ name: String) -> Bool { offers.contains { $0.isScheme(name) } }
    let takesDigest = credentials.kind == .digest || credentials.kind == .strongestOffered
    if takesDigest, let asked = DigestChallenge.strongest(of: offers) {
      spaces.remember(asked, for: credentials, at: url)
      return true
    }
    switch credentials.kind {
    case .basic where offersScheme("Basic"), .strongestOffered where offersScheme("Basic"):
      spaces.remember(.basic, for: credentials, at: url)
    case .bearer where offersScheme("Bearer"):
      spaces.remember(.bearer, for: credentials, at: url)
    default: return false
    }
    return true
  }
}
