/// Words that people type for a command of another name.
enum VerbAlias {
  /// What to type instead; nil if there is no suggestion.
  static func hint(_ word: String) -> String? {
    if word.contains("://") {
      return "put a command before it, as in formstream get URL or formstream post URL"
    }
    let plain = word.lowercased()
    if let verb = Verb(rawValue: plain) {
      return "write it in small letters: formstream \(verb.rawValue)"
    }
    return switch plain {
    case "upload": "formstream post sends by POST, put by PUT, and send sends many files"
    case "patch", "delete": "use formstream post -X \(plain.uppercased())"
    case "head":
      "formstream get -I prints the head of a response"
    case "download", "fetch", "wget": "formstream get URL downloads"
    case "decode", "read": "formstream parse reads a body that was received"
    case "serve", "server", "listen": "formstream receive accepts uploads"
    default: nil
    }
  }
}
