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

extension String {
  /// Whether two names are of one header: case does not count.
  func isSameHeader(as other: String) -> Bool {
    utf8.count == other.utf8.count && lowercased() == other.lowercased()
  }

  /// Without blanks and tabs at both ends, which are no part of a value (RFC 9110 §5.5).
  var trimmingBlanks: Substring {
    var rest = self[...]
    while let first = rest.utf8.first, first == 0x20 || first == 0x09 { rest = rest.dropFirst() }
    while let last = rest.utf8.last, last == 0x20 || last == 0x09 { rest = rest.dropLast() }
    return rest
  }
}
