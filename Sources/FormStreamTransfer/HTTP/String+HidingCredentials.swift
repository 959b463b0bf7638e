extension String {
  /// Text that was meant as a URL, with everything masked that may be a user and a password.
  var hidingCredentials: String {
    let scheme = prefix { $0 != "/" }
    // Text that begins with one slash is a path.
    if scheme.isEmpty, !hasPrefix("//") { return self }
    var rest = self[...]
    if scheme.isEmpty || scheme.hasSuffix(":") {
      rest = self[scheme.endIndex...].drop { $0 == "/" }
    }
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard let at = authority.lastIndex(of: "@") else { return self }
    return self[..<rest.startIndex] + "***" + self[at...]
  }
}
