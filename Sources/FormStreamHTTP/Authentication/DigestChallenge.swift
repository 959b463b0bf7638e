import FormStreamDigest
import FormStreamPlatform

/// A challenge of Digest authentication (RFC 7616 §3.3), and how a request answers it.
struct DigestChallenge: Sendable, Hashable {
  /// The hash functions, the strongest first.
  enum Hash: Sendable, CaseIterable { case sha512256, sha256, md5 }

  let realm: String
  var nonce: String
  private let opaque: String?
  private let hash: Hash
  /// Whether the key is made once for a pair of nonces, the server's and the client's (`-sess`).
  private let isSession: Bool
  /// The algorithm as the server wrote it; nil if the server left it out, which means MD5.
  private let algorithm: String?
  /// Whether the answer covers a count and a nonce of the client. Servers that follow RFC 2069 know neither.
  private let hasQuality: Bool
  /// Whether only the nonce was too old: the user and the password may be right.
  let isStale: Bool
  private let hashesUser: Bool
  /// The URL references that say where the challenge applies; empty if it applies to the complete origin.
  let domain: [String]

  /// The strongest challenge that can be answered; nil if the offers have none.
  static func strongest(of offers: [OfferedScheme]) -> DigestChallenge? {
    let known = offers.compactMap(DigestChallenge.init)
    for hash in Hash.allCases {
      if let challenge = known.first(where: { $0.hash == hash }) { return challenge }
    }
    return nil
  }

  /// Nil if the offer is another scheme, or can't be answered. An offer can't be answered if it has an unknown algorithm, if it
  /// has only `auth-int`, which would need the digest of the body before the body is sent, or if it has parameters that can't
  /// be sent back.
  init?(_ offer: OfferedScheme) {
    let parameters = offer.parameters
    guard offer.isScheme("Digest"), let realm = parameters["realm"],
      let nonce = parameters["nonce"], offer.isRepeatable
    else { return nil }
    algorithm = parameters["algorithm"]
    guard let (hash, isSession) = Self.hash(named: algorithm ?? "MD5") else { return nil }
    (self.hash, self.isSession) = (hash, isSession)
    let qualities = Self.qualities(of: offer)
    guard qualities?.contains("auth") ?? true else { return nil }
    hasQuality = qualities != nil
    (self.realm, self.nonce, opaque) = (realm, nonce, parameters["opaque"])
    isStale = parameters["stale"]?.lowercased() == "true"
    hashesUser = parameters["userhash"]?.lowercased() == "true"
    domain = (parameters["domain"] ?? "").split(separator: " ").map(String.init)
  }

  private static func hash(named algorithm: String) -> (hash: Hash, isSession: Bool)? {
    switch algorithm.lowercased() {
    case "md5": (.md5, false)
    case "md5-sess": (.md5, true)
    case "sha-256": (.sha256, false)
    case "sha-256-sess": (.sha256, true)
    case "sha-512-256": (.sha512256, false)
    case "sha-512-256-sess": (.sha512256, true)
    default: nil
    }
  }

  /// The values of `qop`; nil if the server knows only Digest as in RFC 2069.
  private static func qualities(of offer: OfferedScheme) -> [Substring]? {
    offer.parameters["qop"]?.lowercased().split { $0 == "," || $0 == " " }
  }

  /// For messages: the parameter that makes a Digest offer impossible to answer, and the values that are supported. The
  /// parameter is cut, so that a server can't make a message long. Nil if the offer is another scheme, or if something else is
  /// wrong with it.
  static func unsupportedKind(_ offer: OfferedScheme) -> (name: String, supported: String)? {
    guard offer.isScheme("Digest") else { return nil }
    if let algorithm = offer.parameters["algorithm"], hash(named: algorithm) == nil {
      return ("algorithm=\(algorithm.prefix(50))", "MD5, SHA-256 or SHA-512-256")
    }
    guard let qualities = qualities(of: offer), !qualities.contains("auth") else { return nil }
    return ("qop=\(qualities.joined(separator: ", ").prefix(50))", "qop=auth")
  }

  /// The value of the `Authorization` header.
  ///
  /// RFC 7616 §3.4.1: response = KD(H(A1), nonce ":" nc ":" cnonce ":" qop ":" H(A2)), where KD(secret, data) is
  /// H(secret ":" data). User, realm and password are hashed as UTF-8, whatever `charset` says: no other encoding is defined
  /// for characters outside of ASCII.
  ///
  /// - Parameters:
  ///   - target: the path and the query that are requested.
  ///   - count: how many requests have been sent with the nonce, this one included.
  ///   - clientNonce: random text.
  func authorization(
    user: String, password: String, method: String, target: String, count: UInt32,
    clientNonce: String
  ) throws(DigestError) -> String {
    let nonceCount = hexadecimal(count.bigEndianBytes)
    // RFC 7616 §3.4.2: A1 = unq(username) ":" unq(realm) ":" passwd; with "-sess" its digest, and both nonces.
    var key = try digest("\(user):\(realm):\(password)")
    if isSession { key = try digest("\(key):\(nonce):\(clientNonce)") }
    // RFC 7616 §3.4.3: A2 = Method ":" request-uri.
    let resource = try digest("\(method):\(target)")
    let covered = hasQuality ? "\(nonce):\(nonceCount):\(clientNonce):auth" : nonce
    let response = try digest("\(key):\(covered):\(resource)")
    let name = hashesUser ? try digest("\(user):\(realm)") : user
    var fields = [
      "username=\(quotedString(name))", "realm=\(quotedString(realm))",
      "nonce=\(quotedString(nonce))", "uri=\(quotedString(target))",
    ]
    if let algorithm { fields.append("algorithm=\(algorithm)") }
    if hasQuality { fields += ["qop=auth", "nc=\(nonceCount)"] }
    if hasQuality || isSession { fields.append("cnonce=\(quotedString(clientNonce))") }
    fields.append("response=\"\(response)\"")
    if let opaque { fields.append("opaque=\(quotedString(opaque))") }
    if hashesUser { fields.append("userhash=true") }
    return "Digest " + fields.joined(separator: ", ")
  }

  private func digest(_ text: String) throws(DigestError) -> String {
    let bytes = Array(text.utf8)
    switch hash {
    case .md5: return hexadecimal(try AuthenticationDigest.md5.digest(of: bytes))
    case .sha512256: return hexadecimal(try AuthenticationDigest.sha512256.digest(of: bytes))
    case .sha256: return try SHA256.digest(of: bytes).description
    }
  }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
  String(
    decoding: bytes.flatMap { [Hexadecimal.digit($0 >> 4), Hexadecimal.digit($0)] }, as: UTF8.self)
}

/// RFC 9110 §5.6.4: quoted-string.
private func quotedString(_ text: String) -> String {
  "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
}

extension UInt32 {
  fileprivate var bigEndianBytes: [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) }
  }
}
