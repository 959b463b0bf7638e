extension Document {
  /// The help of a command; if `verb` is nil, the overview of all commands.
  static func help(for verb: Verb?) -> String {
    verb.map(help(of:)) ?? overview
  }

  /// The command line that prints the help, quoted for use in a sentence.
  static func helpCommand(for verb: Verb?) -> String {
    "\"formstream \(verb.map { "\($0.rawValue) " } ?? "")--help\""
  }

  private static var overview: String {
    """
    formstream: send, receive and inspect multipart/form-data, streamed

    Usage: formstream COMMAND [FLAG]... [OPERAND]...

    Commands:
    \(Verb.allCases.map { HelpText.row($0.rawValue, $0.summary, column: narrow) }.joined())
    Examples:
    \(text(of: Verb.overviewExamples))\(groups(of: nil) { $0.verbs.isEmpty })
    "formstream COMMAND --help" lists the flags of a command. "formstream COMMAND
    --generate man" prints its page of the manual.

    """
  }

  private static func help(of verb: Verb) -> String {
    let common = Flag.all.filter { $0.common.contains(verb) }
    let heading = HelpText.wrapped(
      "formstream \(verb.rawValue): \(verb.summary)", width: HelpText.width)
    return """
      \(heading.joined(separator: "\n"))

      Usage: \(verb.usage)
      \(section("Common flags", common, of: verb))
      Examples:
      \(text(of: verb.examples))\
      \(groups(of: verb) { $0.isKnown(to: verb) && !$0.common.contains(verb) })
      Exit codes:
      \(verb.exitCodes.map { HelpText.row("\($0.rawValue)", $0.meaning(for: verb), column: narrow) }.joined())\
      \(HelpText.row("128 + N", "Ended by signal N; no half-written file has its name", column: narrow))
      """
  }

  private static func text(of examples: [Verb.Example]) -> String {
    examples.map { example in
      let purpose = HelpText.wrapped(example.purpose, width: HelpText.width - 4)
        .map { "  # \($0)\n" }.joined()
      return purpose + HelpText.command(example.line, indentation: 2, width: HelpText.width) + "\n"
    }
    .joined()
  }

  private static func groups(of verb: Verb?, where isWanted: (Flag) -> Bool) -> String {
    Flag.Group.allCases.map { group in
      section(group.rawValue, Flag.all.filter { $0.group == group && isWanted($0) }, of: verb)
    }
    .joined()
  }

  /// A heading and its flags, after an empty line; nothing if there are no flags.
  private static func section(_ heading: String, _ flags: [Flag], of verb: Verb?) -> String {
    if flags.isEmpty { return "" }
    return "\n\(heading):\n"
      + flags.map { HelpText.row($0.usage, $0.summary(for: verb), column: wide) }.joined()
  }

  /// The column of the text: `wide` beside flags, `narrow` beside commands and exit codes.
  private static let (wide, narrow) = (28, 12)
}
