/// What is known of headers by their names.
enum HeaderText {
  /// Whether the value of a header of that name lets whoever reads it act for somebody. Nobody knows all
  /// such names, so it is told by their words; a value too many that is masked does no harm.
  static func isSecret(_ name: String) -> Bool {
    let name = name.lowercased()
    // A challenge is for everybody, and says why a request was refused.
    if challenges.contains(name) { return false }
    let plain = name.filter { $0 != "-" && $0 != "_" }
    return secretWords.contains { plain.contains($0) }
  }

  private static let challenges: Set<String> = ["www-authenticate", "proxy-authenticate"]
  private static let secretWords = [
    "token", "secret", "apikey", "password", "auth", "cookie", "session",
  ]
}
