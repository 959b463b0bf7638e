import FormStreamMultipart
import FormStreamPlatform

/// The value of a flag that may be a secret, as a message names it. The message never has the value itself.
struct HiddenValue: CustomStringConvertible {
  let description: String

  /// The flags that have nothing but a secret.
  private static let secret: Set<String> = ["user", "oauth2-bearer", "proxy-user", "pass"]
  /// The flags whose values are secrets unless they are names of files.
  private static let secretUnlessFile: Set<String> = ["cookie", "cert"]
  /// The flags whose values have names before these characters, and are secret if their names are those of secrets.
  private static let named: [String: [Unicode.Scalar]] = [
    "header": [":", ";"], "part-header": [":", ";"],
    "form": ["="], "field": ["="], "field-template": ["="], "query": ["="], "upload-metadata": ["="],
  ]

  /// Nil if the value is no secret. Masking too many values does little harm, so what is in doubt is a secret.
  ///
  /// - Parameter jar: the value of `--cookie-jar`.
  init?(of flag: Flag, _ value: Argument, besideCookieJar jar: Argument?) {
    guard flag.value != nil, !value.bytes.isEmpty else { return nil }
    let text = value.text
    if let text, let separators = Self.named[flag.long] {
      // The name of a file with headers.
      if text.hasPrefix("@"), separators.contains(":") { return nil }
      let scalars = text.unicodeScalars
      let name = String(scalars[..<(scalars.firstIndex(where: separators.contains) ?? scalars.endIndex)])
      let rest = String(text.unicodeScalars.dropFirst(name.unicodeScalars.count))
      let isPlain =
        !rest.isEmpty && !SecretNames.contains(name.utf8) && !Self.mayHaveSecrets(Self.withoutFileMark(rest, of: flag))
      // The headers of a part in curl's language, such as `;headers="X-Token: …"`.
      if isPlain, flag.long != "form" || !text.lowercased().contains("headers") { return nil }
      description = HTTPSyntax.isToken(name.utf8) && !rest.isEmpty ? "--\(flag.long) \(name)" : "--\(flag.long)"
      return
    }
    if !Self.secret.contains(flag.long) {
      if flag.isFile(value, besideCookieJar: jar) { return nil }
      if !Self.secretUnlessFile.contains(flag.long), let text, !Self.mayHaveSecrets(text) { return nil }
    }
    description = "--\(flag.long)"
  }

  /// The value after a name, without the `@` or `<` by which `-F` says that a file's name follows. Any other `@` may end a user.
  private static func withoutFileMark(_ rest: String, of flag: Flag) -> String {
    flag.long == "form" && (rest.hasPrefix("=@") || rest.hasPrefix("=<")) ? String(rest.dropFirst(2)) : rest
  }

  /// Whether the text has a user or a password as in a URL, or a secret field. The URL of a proxy needs no scheme.
  private static func mayHaveSecrets(_ text: String) -> Bool {
    text.hidingSecretsOfInvalidURL != text || SecretFields.mayOccur(in: Array(text.utf8))
      || SecretFields.mayOccur(in: PercentDecoder.decoded(text.utf8))
  }
}

extension Flag {
  /// Whether the complete value is the name of a file or directory. If the `=` of a cookie was forgotten, the value is the cookie, so
  /// the file of `--cookie` has to exist, or is written by this command.
  fileprivate func isFile(_ value: Argument, besideCookieJar jar: Argument?) -> Bool {
    guard let kind = self.value, kind.completion.isOfFiles else { return false }
    if let names = kind.names, names(value).map(\.bytes) != [value.bytes] { return false }
    return long != "cookie" || value.bytes == jar?.bytes || exists(value.path)
  }
}

extension Flag.Value.Completion {
  fileprivate var isOfFiles: Bool {
    switch self {
    case .path, .directory: true
    default: false
    }
  }
}

/// Secrets inside a text of any language, such as JSON: `"token": "…"`, `token=…`, `Bearer …`.
private enum SecretFields {
  /// RFC 9110 §11.4: "Authorization = credentials", which begin with the name of their scheme.
  private static let schemes = ["basic", "bearer", "digest", "token", "negotiate", "ntlm", "apikey"].map { Array($0.utf8) }

  /// Whether a word directly before `=` or `:` is the name of a secret, or a value begins with the name of a scheme.
  static func mayOccur(in text: [UInt8]) -> Bool {
    let pieces = text.split(omittingEmptySubsequences: false) { "=:".utf8.contains($0) }
    return pieces.dropLast().contains { SecretNames.contains(lastWord(of: $0)) } || pieces.contains(where: hasScheme)
  }

  /// The word at the end. Quotes, escapes of quotes, brackets and blanks may follow the word.
  private static func lastWord(of piece: ArraySlice<UInt8>) -> ReversedCollection<[UInt8]> {
    Array(piece.reversed().drop { !isOfWord($0) }.prefix(while: isOfWord)).reversed()
  }

  private static func hasScheme(_ piece: ArraySlice<UInt8>) -> Bool {
    let text = piece.drop { !isOfWord($0) }
    let word = text.prefix { $0.isASCIILetterOrDigit }.map(\.asciiLowercased)
    return schemes.contains(word) && text.dropFirst(word.count).first == UInt8(ascii: " ")
  }

  private static func isOfWord(_ byte: UInt8) -> Bool { byte.isASCIILetterOrDigit || "-_".utf8.contains(byte) }
}
