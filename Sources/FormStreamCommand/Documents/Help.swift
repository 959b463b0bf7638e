extension Document {
  /// The help of a verb, or of the whole command: examples first.
  static func help(for verb: Verb?) -> String {
    verb.map(help(of:)) ?? overview
  }

  /// How the help of a verb, or of the whole command, is called for, in a sentence.
  static func callForHelp(for verb: Verb?) -> String {
    "\"formstream \(verb.map { "\($0.rawValue) " } ?? "")--help\""
  }

  private static var overview: String {
    var text = """
      formstream: multipart/form-data, streamed

      Examples:
      \(examples(of: Verb.allCases))
      Commands:

      """
    for verb in Verb.allCases {
      text += row(verb.rawValue, verb.summary)
    }
    text += flags { $0.verbs.isEmpty }
    text += "\n\"formstream COMMAND --help\" tells more, \"formstream --generate man\" tells all.\n"
    return text
  }

  private static func help(of verb: Verb) -> String {
    """
    formstream \(verb.rawValue): \(verb.summary)

    Examples:
    \(examples(of: [verb]))
    Usage: formstream \(verb.rawValue) [FLAG]...\(verb.operand.map { " \($0.usage)" } ?? "")
    \(verb.note.map { "\n\($0)\n" } ?? "")\
    \(flags { $0.isKnown(to: verb) })\(verb.sends ? "\nProxies, cookies and .netrc are not used, whatever the environment says.\n" : "")
    Exit codes:
    \(ExitCode.documented.map { row("\($0.rawValue)", $0.meaning) }.joined())\
    \(row("128 + N", "Ended by signal N; no half-made file is left"))
    """
  }

  private static func examples(of verbs: [Verb]) -> String {
    verbs.flatMap(\.examples).map { "  # \($0.purpose)\n  \($0.line)\n" }.joined()
  }

  private static func flags(where isWanted: (Flag) -> Bool) -> String {
    var text = ""
    for group in Flag.Group.allCases {
      let flags = Flag.all.filter { $0.group == group && isWanted($0) }
      guard !flags.isEmpty else { continue }
      text += "\n\(group.rawValue):\n"
      for flag in flags { text += row(flag.usage, flag.summary) }
    }
    return text
  }

  private static func row(_ name: String, _ summary: String) -> String {
    let width = 30
    let gap = String(repeating: " ", count: max(1, width - name.count))
    return "  \(name)\(gap)\(summary)\n"
  }
}
