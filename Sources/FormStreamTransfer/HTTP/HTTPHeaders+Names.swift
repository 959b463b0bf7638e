extension HTTPHeaders {
  /// Whether the value of a header with this name is a credential, such as a token or a cookie.
  ///
  /// There is no complete list of such names, so this looks for words in them: masking too many values does no harm.
  static func isSecret(_ name: String) -> Bool {
    let name = name.lowercased()
    // A challenge isn't a secret, and explains why a request was refused.
    if challenges.contains(name) { return false }
    let plain = name.filter { $0 != "-" && $0 != "_" }
    return secretWords.contains { plain.contains($0) }
  }

  private static let challenges: Set<String> = ["www-authenticate", "proxy-authenticate"]
  private static let secretWords = [
    "token", "secret", "apikey", "password", "auth", "cookie", "session",
  ]
}
