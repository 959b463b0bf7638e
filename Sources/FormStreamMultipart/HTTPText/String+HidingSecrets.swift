extension String {
  /// This text with the secrets in its URLs masked: users, passwords, and the query and fragment values that have names
  /// of secrets.
  package var hidingURLSecrets: String {
    // Most headers and URLs have nothing to hide.
    guard utf8.contains(where: { "@?#".utf8.contains($0) }) else { return self }
    return String(decoding: Self.hidingQueries(Self.hidingUsers(Array(utf8))), as: UTF8.self)
  }

  /// This text with everything masked that may be a user and a password. The text was meant as a URL but is not valid.
  /// Its password may contain an unescaped `/`, `?` or `#`, and libcurl searches for a password only before these
  /// characters.
  package var hidingSecretsOfInvalidURL: String {
    guard let at = utf8.lastIndex(of: UInt8(ascii: "@")) else { return hidingURLSecrets }
    let scheme = prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    let start = self[scheme.endIndex...].hasPrefix("://") ? "\(scheme)://" : ""
    return "\(start)***\(self[at...])".hidingURLSecrets
  }

  private static let mask = Array("***".utf8)

  /// RFC 3986 §3.2: "The authority component is preceded by a double slash and is terminated by the next slash,
  /// question mark, or number sign character, or by the end of the URI."
  private static func hidingUsers(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = text[...]
    while let slash = rest.firstIndex(of: UInt8(ascii: "/")) {
      result += rest[...slash]
      rest = rest[(slash + 1)...]
      let isFirst = slash == text.startIndex || text[slash - 1].isBeforeAuthority
      guard isFirst, rest.first == UInt8(ascii: "/") else { continue }
      let authority = rest.dropFirst().prefix { !$0.endsURL && !"/?#".utf8.contains($0) }
      guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { continue }
      result += [UInt8(ascii: "/")] + mask
      rest = rest[at...]
    }
    return result + rest
  }

  /// Masks the values of secret fields. Fields are separated by `&` or `;`. A fragment may also contain fields, as in
  /// OAuth responses.
  private static func hidingQueries(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var isInQuery = false
    var rest = text[...]
    while !rest.isEmpty {
      let field = rest.prefix { !$0.endsURL && !"?#&;".utf8.contains($0) }
      result += isInQuery ? hidingValue(field) : Array(field)
      rest = rest[field.endIndex...]
      guard let delimiter = rest.popFirst() else { break }
      result.append(delimiter)
      isInQuery = !delimiter.endsURL && (isInQuery || "?#".utf8.contains(delimiter))
    }
    return result
  }

  /// `name=***` if the name, which may be percent-encoded, says that the value is a secret.
  private static func hidingValue(_ field: ArraySlice<UInt8>) -> [UInt8] {
    guard let equals = field.firstIndex(of: UInt8(ascii: "=")), equals + 1 < field.endIndex,
      SecretNames.contains(PercentDecoder.decoded(field[..<equals]))
    else { return Array(field) }
    return field[...equals] + mask
  }
}

extension UInt8 {
  /// Whether a URL in a text ends before this byte: at white space, quotes and angle brackets.
  fileprivate var endsURL: Bool { self <= 0x20 || "\"'<>".utf8.contains(self) }

  /// Whether the double slash after this byte begins an authority, and is not part of a path.
  fileprivate var isBeforeAuthority: Bool { endsURL || ":=,".utf8.contains(self) }
}
