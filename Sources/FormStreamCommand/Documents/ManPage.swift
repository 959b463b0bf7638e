extension Document {
  /// A page of the manual in roff: the page of `verb`, or the main page if `verb` is nil.
  static func manPage(of verb: Verb?) -> String {
    verb.map(page) ?? mainPage
  }

  private static var mainPage: String {
    let commands = Verb.allCases.map { verb in
      Roff.entry(Roff.bold(verb.pageName) + "(1)", [verb.summary + "."])
    }
    let more =
      "Each command has a page of its own, with its flags. These flags are known to all of them."
    return head("formstream", "send, receive and inspect multipart/form-data, streamed")
      + Roff.section(
        "SYNOPSIS",
        "\(Roff.bold("formstream")) \(Roff.italic("COMMAND")) [\(Roff.italic("FLAG"))]... "
          + "[\(Roff.italic("OPERAND"))]...\n.br\n\(Roff.bold("formstream help")) [\(Roff.italic("COMMAND"))]\n"
      )
      + Roff.section(
        "DESCRIPTION",
        Roff.paragraphs([
          "Makes forms of text and files, and streams them: the length that is announced is the length that is "
            + "sent, memory does not grow with the body, and a file that changes while it is read is an error. "
            + "Reads forms back, within limits.",
          "Data goes to standard output. Notes, progress and errors go to standard error.",
        ]))
      + Roff.section("COMMANDS", commands.joined())
      + Roff.section(
        "FLAGS",
        Roff.paragraphs([more]) + Flag.known(to: nil).map { entry(of: $0, for: nil) }.joined())
      + Roff.section("EXAMPLES", Verb.overviewExamples.map(example).joined(separator: ".PP\n"))
      + exitStatus(of: nil)
      + Roff.section("ENVIRONMENT", ManualEntry.environment.map(entry).joined())
      + Roff.section("FILES", ManualEntry.files.map(entry).joined())
      + seeAlso(Verb.allCases.map(\.pageName), foreign: ["curl"])
  }

  private static func page(of verb: Verb) -> String {
    let groups = Flag.Group.allCases.map { group in
      let flags = Flag.known(to: verb).filter { $0.group == group }
      return flags.isEmpty
        ? ""
        : ".SS \(Roff.quoted(group.rawValue))\n" + flags.map { entry(of: $0, for: verb) }.joined()
    }
    let common = Flag.all.filter { $0.common.contains(verb) }
      .map { "\(Roff.bold("--\($0.long)"))" }
    let commonFlags =
      common.isEmpty ? "" : "The most common ones are \(common.joined(separator: ", "))\\&.\n"
    return head(verb.pageName, verb.summary)
      + Roff.section("SYNOPSIS", synopsis(of: verb))
      + Roff.section("DESCRIPTION", Roff.paragraphs(verb.explanation))
      + Roff.section("FLAGS", commonFlags + groups.joined())
      + Roff.section("EXAMPLES", verb.examples.map(example).joined(separator: ".PP\n"))
      + exitStatus(of: verb)
      + Roff.section(
        "ENVIRONMENT",
        ManualEntry.environment.filter { $0.verbs.contains(verb) }.map(entry).joined())
      + Roff.section(
        "FILES", ManualEntry.files.filter { $0.verbs.contains(verb) }.map(entry).joined())
      + seeAlso(["formstream"] + verb.related.map(\.pageName), foreign: verb.foreignPages)
  }

  private static func head(_ name: String, _ summary: String) -> String {
    let start = summary.prefix(1).lowercased() + summary.dropFirst()
    return ".TH \(Roff.quoted(name.uppercased())) 1 \"\" "
      + "\(Roff.quoted("formstream \(version)")) \(Roff.quoted("User Commands"))\n"
      + Roff.section("NAME", "\(Roff.text(name)) \\- \(Roff.text(start))\n")
  }

  private static func synopsis(of verb: Verb) -> String {
    let flags = " [\(Roff.italic("FLAG"))]..."
    let operand = verb.operand.map { " \(Roff.italic($0.usage))" } ?? ""
    return "\(Roff.bold("formstream \(verb.rawValue)"))\(flags)\(operand)\n"
  }

  private static func example(_ example: Verb.Example) -> String {
    let purpose = example.purpose.prefix(1).uppercased() + example.purpose.dropFirst()
    // The page is indented by 7 columns, and the example by 4 more.
    let line = HelpText.command(example.line, indentation: 0, width: HelpText.width - 7 - 4 - 2)
    return "\(Roff.text(purpose)):\n.PP\n.RS 4\n.nf\n\(Roff.text(line))\n.fi\n.RE\n"
  }

  private static func entry(of flag: Flag, for verb: Verb?) -> String {
    let names = ((flag.short.map { ["-\($0)"] } ?? []) + ["--\(flag.long)"]).map(Roff.bold)
      .joined(separator: ", ")
    let term =
      flag.value.map { value in
        let placeholder = Roff.italic(value.placeholder)
        return value.isOptional ? "\(names)[=\(placeholder)]" : "\(names) \(placeholder)"
      } ?? names
    return Roff.entry(
      term, ["\(flag.summary(for: verb))."] + (flag.detail.isEmpty ? [] : [flag.detail]))
  }

  private static func entry(of entry: ManualEntry) -> String {
    Roff.entry(Roff.bold(entry.name), [entry.meaning])
  }

  private static func exitStatus(of verb: Verb?) -> String {
    var signals =
      "Shells show these codes if SIGHUP, SIGINT, SIGQUIT or SIGTERM ended the command. A half-written file never "
      + "gets its name."
    if let exception = verb?.afterSIGTERM { signals += " \(exception)" }
    let codes =
      verb.map { verb in verb.exitCodes.map { ($0, $0.meaning(for: verb)) } }
      ?? ExitCode.documented.map { ($0, $0.meaning) }
    let notes = verb?.exitNote.map { Roff.paragraphs([$0]) } ?? ""
    return Roff.section(
      "EXIT STATUS",
      notes
        + codes.map { Roff.entry("\($0.rawValue)", ["\($1)."]) }.joined()
        + Roff.entry("129, 130, 131, 143", [signals]))
  }

  private static func seeAlso(_ own: [String], foreign: [String]) -> String {
    Roff.section(
      "SEE ALSO",
      (own + foreign).map { "\(Roff.bold($0))(1)" }.joined(separator: ",\n") + "\n")
  }
}
