extension String {
  /// This text in single quotes, for sh, bash and zsh.
  var shellQuoted: String {
    "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  /// This text in single quotes, for fish.
  var fishQuoted: String {
    "'" + escaping("\\'", with: "\\") + "'"
  }

  func escaping(_ characters: String, with mark: Character) -> String {
    reduce(into: "") { result, character in
      if characters.contains(character) { result.append(mark) }
      result.append(character)
    }
  }
}

extension Document {
  /// The words that shells offer as the first word, with descriptions: the commands, and `help`.
  static var firstWords: [(word: String, summary: String)] {
    Verb.allCases.map { ($0.rawValue, $0.summary) } + [("help", "Print the help of a command")]
  }

  /// The names of all commands, with blanks between them.
  static let verbNames = Verb.allCases.map(\.rawValue).joined(separator: " ")

  /// The commands that take operands, which may be files.
  static let operandVerbs = Verb.allCases.filter { $0.operand != nil }.map(\.rawValue)

  /// The commands that take `@FILE` as an operand.
  static let bodyVerbs = Verb.allCases.filter(\.sends).map(\.rawValue)
}

extension Flag {
  /// The flags of a command; if `verb` is nil, the flags that every command has.
  static func known(to verb: Verb?) -> [Flag] {
    all.filter { flag in verb.map(flag.isKnown) ?? flag.verbs.isEmpty }
  }

  /// The flag as it can be typed: `--form` and `-F`.
  var spellings: [String] { ["--\(long)"] + (short.map { ["-\($0)"] } ?? []) }
}
