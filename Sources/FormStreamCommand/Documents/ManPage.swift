extension Document {
  /// The manual in roff, in the order of the help: usage, commands, examples, flags.
  static var manPage: String {
    var page = """
      .TH FORMSTREAM 1 "" "formstream \(version)" "User Commands"
      .SH NAME
      formstream \\- send, receive and inspect multipart/form\\-data, streamed
      .SH SYNOPSIS

      """
    for verb in Verb.allCases {
      let operand = verb.operand.map { " \\fI\($0.usage)\\fR" } ?? ""
      let flags = verb == .demo ? "" : "[\\fIFLAG\\fR]..."
      page += ".B formstream \(verb.rawValue)\n\(flags)\(operand)\n.br\n"
    }
    page += """
      .SH DESCRIPTION
      Makes forms of text and files, and streams them: the length that is announced is the length that is
      sent, memory does not grow with the body, and a file that changes while it is read is an error. Reads
      forms back, within limits.
      .SH COMMANDS

      """
    for verb in Verb.allCases {
      page += ".SS \"formstream \(verb.rawValue)\"\n\(roff(verb.summary)).\n"
      if let note = verb.note { page += roff(note) + "\n" }
      page += commonFlags(of: verb)
    }
    page += ".SH EXAMPLES\n"
    for example in Verb.allCases.flatMap(\.examples) {
      page += ".PP\n\(roff(example.purpose)):\n.PP\n.RS 4\n.nf\n\(roff(example.line))\n.fi\n.RE\n"
    }
    for group in Flag.Group.allCases {
      page += ".SH \"\(group.rawValue.uppercased())\"\n"
      for flag in Flag.all where flag.group == group { page += entry(of: flag) }
    }
    page += ".SH EXIT STATUS\n"
    for code in ExitCode.documented {
      page += ".TP\n\(code.rawValue)\n\(roff(code.meaning)).\n"
    }
    page +=
      ".TP\n129, 130, 131, 143\nWhat shells show after an end by SIGHUP, SIGINT, SIGQUIT or SIGTERM; no half\\-written file has its name. receive ends with 0 after SIGTERM.\n"
    return page
  }

  private static func commonFlags(of verb: Verb) -> String {
    let names = Flag.all.filter { $0.common.contains(verb) }
      .map { "\\fB\(roff("--\($0.long)"))\\fR" }
    return names.isEmpty ? "" : "Common flags: \(names.joined(separator: ", ")).\n"
  }

  private static func entry(of flag: Flag) -> String {
    let verbs = flag.verbs.map(\.rawValue).joined(separator: ", ")
    return ".TP\n\(term(flag))\n\(roff(flag.summary)).\n"
      + (flag.detail.isEmpty ? "" : roff(flag.detail) + "\n")
      + (verbs.isEmpty ? "" : "(\(verbs))\n")
  }

  private static func term(_ flag: Flag) -> String {
    let names = [flag.short.map { "\\fB\\-\($0)\\fR" }, "\\fB\(roff("--\(flag.long)"))\\fR"]
      .compactMap(\.self).joined(separator: ", ")
    return flag.value.map { "\(names) \\fI\(roff($0.placeholder))\\fR" } ?? names
  }

  /// Escapes text for roff: backslashes, hyphens, and the characters that begin a request.
  private static func roff(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case ".": result += "\\&."
      default: result.append(character)
      }
    }
    return result
  }
}
