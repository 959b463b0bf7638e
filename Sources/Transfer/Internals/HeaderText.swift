/// What is known of headers by their names.
enum HeaderText {
  /// Whether the value of a header of that name lets whoever reads it act for somebody.
  static func isSecret(_ name: String) -> Bool {
    secretNames.contains(name.lowercased())
  }

  private static let secretNames: Set<String> = [
    "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key",
    "x-auth-token", "x-csrf-token", "authentication-info",
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
