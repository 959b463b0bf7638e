import FormStreamMultipart
import FormStreamPlatform

/// The value of a flag that may be a secret, as a message names it. The message never has the value itself.
struct HiddenValue: CustomStringConvertible {
  let description: String

  /// The flags that have nothing but a secret.
  private static let secret: Set<String> = ["user", "oauth2-bearer", "proxy-user", "pass"]
  /// The flags whose values have names before these characters, and are secret if their names are those of secrets.
  private static let named: [String: [Unicode.Scalar]] = [
    "header": [":", ";"], "part-header": [":", ";"],
    "form": ["="], "field": ["="], "field-template": ["="], "query": ["="], "upload-metadata": ["="],
  ]

  /// Nil if the value is no secret. Masking too many values does little harm, so what is in doubt is a secret.
  init?(of flag: Flag, _ value: Argument) {
    guard flag.value != nil, !value.bytes.isEmpty else { return nil }
    let text = value.text
    if let text, let separators = Self.named[flag.long] {
      // The name of a file with headers.
      if text.hasPrefix("@"), separators.contains(":") { return nil }
      let scalars = text.unicodeScalars
      let name = String(scalars[..<(scalars.firstIndex(where: separators.contains) ?? scalars.endIndex)])
      let rest = String(text.unicodeScalars.dropFirst(name.unicodeScalars.count))
      let isPlain = !rest.isEmpty && !SecretNames.contains(name.utf8) && !Self.mayBeURLOfSecrets(rest)
      // The headers of a part in curl's language, such as `;headers="X-Token: …"`.
      if isPlain, flag.long != "form" || !text.lowercased().contains("headers") { return nil }
      description = HTTPSyntax.isToken(name.utf8) && !rest.isEmpty ? "--\(flag.long) \(name)" : "--\(flag.long)"
      return
    }
    let isFile = flag.value?.completion.isOfFiles == true && !(flag.long == "cookie" && value.isCookie)
    guard Self.secret.contains(flag.long) || !isFile && (flag.long == "cookie" || text.map(Self.mayBeURLOfSecrets) ?? true)
    else { return nil }
    description = "--\(flag.long)"
  }

  /// Whether the text has a user, a password or a secret field, as in a URL. The URL of a proxy needs no scheme.
  private static func mayBeURLOfSecrets(_ text: String) -> Bool { text.hidingSecretsOfInvalidURL != text }
}

extension Flag.Value.Completion {
  /// Whether the value is the name of a file or directory.
  fileprivate var isOfFiles: Bool {
    switch self {
    case .path, .directory: true
    default: false
    }
  }
}
