extension Document {
  static var manPage: String {
    var page = """
      .TH FORMSTREAM 1 "" "formstream \(version)" "User Commands"
      .SH NAME
      formstream \\- multipart/form\\-data, streamed
      .SH SYNOPSIS

      """
    for verb in Verb.allCases {
      let operand = verb.operand.map { " \\fI\($0.usage)\\fR" } ?? ""
      page += ".B formstream \(verb.rawValue)\n[\\fIFLAG\\fR]...\(operand)\n.br\n"
    }
    page += """
      .SH DESCRIPTION
      Makes forms of text and files and streams them: the length announced is the length sent, memory
      does not grow with the body, and a file that changes while it is read is an error. Reads forms
      back, within limits. Proxies, cookies and .netrc are not used, whatever the environment says.

      """
    for verb in Verb.allCases {
      page += ".SS \"formstream \(verb.rawValue)\"\n\(roff(verb.summary)).\n"
      if let note = verb.note { page += roff(note) + "\n" }
    }
    for group in Flag.Group.allCases {
      page += ".SH \"\(group.rawValue.uppercased())\"\n"
      for flag in Flag.all where flag.group == group {
        page += ".TP\n\(term(flag))\n\(roff(flag.summary)).\n"
        if !flag.detail.isEmpty { page += roff(flag.detail) + "\n" }
      }
    }
    page += ".SH EXAMPLES\n"
    for example in Verb.allCases.flatMap(\.examples) {
      page += ".PP\n\(roff(example.purpose)):\n.PP\n.RS 4\n.nf\n\(roff(example.line))\n.fi\n.RE\n"
    }
    page += ".SH EXIT STATUS\n"
    for code in ExitCode.documented {
      page += ".TP\n\(code.rawValue)\n\(roff(code.meaning)).\n"
    }
    page +=
      ".TP\n129, 130, 131, 143\nEnded by SIGHUP, SIGINT, SIGQUIT or SIGTERM; no half\\-made file is left.\n"
    return page
  }

  private static func term(_ flag: Flag) -> String {
    let names = [flag.short.map { "\\fB\\-\($0)\\fR" }, "\\fB\(roff("--\(flag.long)"))\\fR"]
      .compactMap(\.self).joined(separator: ", ")
    return flag.value.map { "\(names) \\fI\(roff($0.placeholder))\\fR" } ?? names
  }

  /// Text as roff takes it: backslashes and hyphens spelled out, no line that begins like a request.
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
