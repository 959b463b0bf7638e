/// Text in roff, with the macros of man(7).
enum Roff {
  /// Escapes text: backslashes, hyphens, and the characters that begin a request.
  static func text(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case ".": result += "\\&."
      default: result.append(character)
      }
    }
    return result
  }

  static func bold(_ text: String) -> String { "\\fB\(self.text(text))\\fR" }
  static func italic(_ text: String) -> String { "\\fI\(self.text(text))\\fR" }

  /// A section; nothing if it has no contents.
  static func section(_ name: String, _ contents: String) -> String {
    contents.isEmpty ? "" : ".SH \(quoted(name))\n\(contents)"
  }

  static func paragraphs(_ paragraphs: [String]) -> String {
    paragraphs.map { "\(text($0))\n" }.joined(separator: ".PP\n")
  }

  /// A term, which is roff already, and the paragraphs of its explanation, which are plain text.
  static func entry(_ term: String, _ paragraphs: [String]) -> String {
    ".TP\n\(term)\n" + paragraphs.map { "\(text($0))\n" }.joined(separator: ".IP\n")
  }

  /// A name as one argument of a macro: the quotes keep its blanks.
  static func quoted(_ name: String) -> String { "\"\(text(name))\"" }
}
