/// Detects headers and query fields that contain secrets, by their names.
///
/// There is no complete list of such names, so each name is searched for typical words. Masking too many values does
/// little harm.
package enum SecretNames {
  /// Whether the value with this name is a secret, such as a token, a password or a signature.
  package static func contains(_ name: some Sequence<UInt8>) -> Bool {
    let plain = name.filter(\.isASCIILetterOrDigit).map(\.asciiLowercased)
    if known.contains(plain) { return false }
    return plain.ends(with: key) || words.contains { plain.contains($0) }
      || completeNames.contains(plain) || name.isAnyWord(of: shortWords)
  }

  /// Names that the lists below would match, although their values are not secret. A challenge (`WWW-Authenticate`)
  /// explains why a request was refused, and an idempotency key is needed to send the request again.
  private static let known = Set(
    [
      "wwwauthenticate", "proxyauthenticate", "accesscontrolallowcredentials", "idempotencykey",
    ].map { Array($0.utf8) })
  /// Texts that occur anywhere in the names of secrets.
  private static let words = [
    "token", "secret", "apikey", "accesskey", "passw", "passphrase", "passcode", "pwd", "auth",
    "cookie", "session", "credential", "signature", "jwt", "csrf", "xsrf", "assertion", "saml",
    "ticket", "bearer", "dpop", "hmac",
  ].map { Array($0.utf8) }
  /// The text at the end of names of secrets: `X-Functions-Key`, `private_key`.
  private static let key = Array("key".utf8)
  /// Texts that occur in the names of secrets as complete words.
  private static let shortWords = [
    "sig", "sign", "pass", "pw", "sid", "otp", "totp", "2fa", "mfa", "pin", "sas", "crumb", "wsse",
  ].map { Array($0.utf8) }
  /// Texts that mark a secret only if they are the complete name. For example, `X-JFrog-Art-Api` contains a key.
  private static let completeNames = Set(
    [
      "code", "xjfrogartapi", "xverificationcode", "verificationcode", "xonetimecode",
      "onetimecode",
    ]
    .map { Array($0.utf8) })
}

extension [UInt8] {
  fileprivate func ends(with suffix: [UInt8]) -> Bool {
    count >= suffix.count && self[(count - suffix.count)...].elementsEqual(suffix)
  }

  fileprivate func contains(_ word: [UInt8]) -> Bool {
    guard count >= word.count else { return false }
    return (0...(count - word.count)).contains { self[$0..<($0 + word.count)].elementsEqual(word) }
  }
}

extension Sequence<UInt8> {
  /// Whether one of the words occurs in this name as a complete word. Words are separated by characters that are not
  /// letters or digits.
  fileprivate func isAnyWord(of words: [[UInt8]]) -> Bool {
    split { !$0.isASCIILetterOrDigit }.contains { word in
      words.contains { $0.elementsEqual(word.lazy.map(\.asciiLowercased)) }
    }
  }
}
