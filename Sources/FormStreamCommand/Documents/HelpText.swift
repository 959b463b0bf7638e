/// Text in lines that fit into the columns of a terminal.
enum HelpText {
  /// The width of every page of help.
  static let width = 80

  /// Text in lines of at most `width` characters. A word that is longer has a line of its own.
  static func wrapped(_ text: String, width: Int) -> [String] {
    filled(text.split(separator: " ").map(String.init), width: width)
  }

  /// A term and its explanation, in two columns. A term that is too long for its column has a line of its own.
  static func row(_ term: String, _ text: String, column: Int) -> String {
    let margin = String(repeating: " ", count: column)
    let lines = wrapped(text, width: width - column)
    let start = "  \(term)"
    guard let first = lines.first else { return "\(start)\n" }
    let hasRoom = start.count + 2 <= column
    let head =
      hasRoom
      ? start + String(repeating: " ", count: column - start.count) + first
      : "\(start)\n\(margin)\(first)"
    return ([head] + lines.dropFirst().map { margin + $0 }).joined(separator: "\n") + "\n"
  }

  /// A command line of a shell. If it has several lines, all but the last end in a backslash. A flag and its value stay
  /// on one line: the word after a flag counts as its value unless it begins with a hyphen or is a URL.
  static func command(_ line: String, indentation: Int, width: Int) -> String {
    let margin = String(repeating: " ", count: indentation)
    if indentation + line.count <= width { return margin + line }
    var pieces: [String] = []
    for word in shellWords(of: line) {
      let isValue = !word.hasPrefix("-") && !word.contains("://") || word == "-"
      if isValue, let last = pieces.last, last.hasPrefix("-"), !last.contains(" ") {
        pieces[pieces.count - 1] += " \(word)"
      } else {
        pieces.append(word)
      }
    }
    // Continuation lines are indented by four more columns, and a backslash takes two.
    let lines = filled(pieces, width: width - indentation - 4 - 2)
    return lines.enumerated().map { index, text in
      margin + (index > 0 ? "    " : "") + text + (index < lines.count - 1 ? " \\" : "")
    }
    .joined(separator: "\n")
  }

  private static func filled(_ pieces: [String], width: Int) -> [String] {
    var lines: [String] = []
    for piece in pieces {
      if let last = lines.last, last.count + 1 + piece.count <= width {
        lines[lines.count - 1] += " \(piece)"
      } else {
        lines.append(piece)
      }
    }
    return lines
  }

  /// The words of a command line. Blanks in single quotes and in `$( )` do not separate words.
  private static func shellWords(of line: String) -> [String] {
    var words: [String] = []
    var word = ""
    var (isQuoted, depth) = (false, 0)
    for character in line {
      switch character {
      case "'": isQuoted.toggle()
      case "(" where !isQuoted: depth += 1
      case ")" where !isQuoted: depth -= 1
      default: break
      }
      if character == " ", !isQuoted, depth == 0 {
        if !word.isEmpty { words.append(word) }
        word = ""
      } else {
        word.append(character)
      }
    }
    return word.isEmpty ? words : words + [word]
  }
}
