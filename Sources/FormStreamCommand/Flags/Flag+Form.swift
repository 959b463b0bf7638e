import FormStreamMultipart

/// The flags that make a form, for every command that makes one.
extension Flag {
  private static let formVerbs: [Verb] = [.encode, .post, .put, .send]

  static let partFlags = [
    Flag(
      long: "form", short: "F", value: Value(placeholder: "NAME=CONTENT", completion: .formPath),
      group: .parts, verbs: formVerbs, common: [.encode, .post],
      summary: "Add a part as in curl: NAME=VALUE, NAME=@FILE, NAME=<FILE",
      detail: """
        NAME=VALUE is a text field, NAME=@PATH is a file, NAME=<PATH is a text field whose value is the \
        contents of the file. The path - is standard input. ;type=TYPE, ;filename=NAME, and ;headers=LINE \
        or ;headers=@PATH may follow. A value, path or name in double quotes may hold anything, with \\" \
        and \\\\ for a quote and a backslash. NAME=@PATH,PATH is one part of type multipart/mixed with several files, \
        each with options of its own; most servers expect a part for each file, so repeat the flag instead. The parts \
        between -F 'NAME=(;type=multipart/alternative' and -F '=)' are in one part. Where curl would cut or skip \
        something, it is an error, and so is encoder=. In --field and --file nothing is special.
        """
    ) { (arguments, argument) throws(Failure) in
      try arguments.form.add(try FormLanguage.parse(argument), of: argument)
    },
    Flag(
      long: "field", value: Value(placeholder: "NAME=VALUE"), group: .parts, verbs: formVerbs,
      summary: "Add a text field; everything after the first = is its value",
      detail: "Nothing in the value is special: no quotes, no escapes, no @ or < at the start."
    ) { (arguments, argument) throws(Failure) in
      let (name, value) = try PartArguments.split(argument, of: "--field", as: "NAME=VALUE")
      arguments.form.add(PartArguments(name: name, content: .value(value), spelling: "--field"))
    },
    Flag(
      long: "file", value: Value(placeholder: "NAME=PATH", completion: .namedPath), group: .parts,
      verbs: formVerbs,
      summary: "Add a file; everything after the first = is its path",
      detail: """
        Nothing in the path is special, except that - is standard input (./- is a file with that name). A \
        FIFO, a device, and standard input that is not a regular file can be read once, and make the \
        length of the form unknown (--read-ahead and --spool help). A regular file must not change from the start \
        of the command until its last byte is read; with --growing, it may grow.
        """
    ) { (arguments, argument) throws(Failure) in
      let (name, path) = try PartArguments.split(argument, of: "--file", as: "NAME=PATH")
      arguments.form.add(PartArguments(name: name, content: .file(path), spelling: "--file"))
    },
  ]

  static let previousPartFlags = [
    Flag(
      long: "type", value: Value(placeholder: "TYPE"), group: .previousPart, verbs: formVerbs,
      summary: "The media type of the part, such as image/png",
      detail: """
        Without the flag, the type of a file is detected, and a text field has none. After -T, it is the type of the files of \
        -T, which otherwise have none.
        """
    ) { (arguments, argument) throws(Failure) in
      if arguments.form.parts.isEmpty, !arguments.request.uploads.isEmpty {
        arguments.request.uploadType = argument
        return
      }
      try arguments.form.setOnPreviousPart(
        \.type, of: "--type", to: try argument.text(for: "--type"))
    },
    Flag(
      long: "filename", value: Value(placeholder: "NAME"), group: .previousPart, verbs: formVerbs,
      summary: "The file name of the part (default: the last component of its path)",
      summaries: [
        .send: "The name of all files: a template such as {stem}.jpg"
      ],
      detail: """
        For send, NAME is a template: values such as {stem} and {relative} in it are replaced by those of each file.
        """
    ) { (arguments, argument) throws(Failure) in
      if arguments.verb == .send {
        arguments.sending.filename = argument
        return
      }
      try arguments.form.setOnPreviousPart(
        \.filename, of: "--filename", to: try argument.text(for: "--filename"))
    },
    Flag(
      long: "part-header", value: Value(placeholder: "NAME: VALUE"), group: .previousPart,
      verbs: formVerbs,
      summary: "Add a header to the part; can be repeated",
      detail: "Content-Disposition, Content-Type and Content-Length can't be set by this flag."
    ) { (arguments, argument) throws(Failure) in
      let line = try argument.text(for: "--part-header")
      try arguments.form.changePreviousPart(of: "--part-header") { $0.headers.append(line) }
    },
    Flag(
      long: "range", value: Value(placeholder: "OFF:LEN"), group: .previousPart, verbs: formVerbs,
      summary: "Send LEN bytes of the file from byte OFF on; OFF: sends the rest",
      summaries: [
        .encode: "Take LEN bytes of the file from byte OFF on; OFF: takes the rest"
      ],
      detail:
        "OFF counts from 0. A range that is not within the file is an error. With LEN, the file may grow."
    ) { (arguments, argument) throws(Failure) in
      try arguments.form.setOnPreviousPart(
        \.range, of: "--range", to: try PartArguments.range(argument))
    },
  ]

  static let wireFlags = [
    Flag(
      long: "boundary", value: Value(placeholder: "B"), group: .wire,
      verbs: formVerbs + [.parse], common: [.parse],
      summary: "The boundary of the form (default: a random one)",
      summaries: [
        .parse: "The boundary of the body (default: what the first delimiter line says)"
      ],
      detail: """
        For commands that make a form, a boundary of your own makes the bytes reproducible. Text on the command line is \
        always searched for the boundary; files and streams are searched only with --verify-boundary. For parse, B is the \
        boundary of the body, without the two hyphens before it. Without the flag, parse takes the boundary from the first \
        line of the body that begins with two hyphens, and a note says so.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.form.boundary = try argument.text(for: "--boundary")
    },
    Flag(
      long: "escaping",
      value: Value(
        placeholder: "PROFILE",
        completion: .choices(EscapingProfile.all.map(\.description))),
      group: .wire, verbs: formVerbs + [.parse, .receive],
      summary: "How names are escaped: browser (the default), rfc2231, backslash or percent",
      summaries: [
        .parse: "How names are escaped: browser, rfc2231, backslash or percent",
        .receive: "How names are escaped: browser, rfc2231, backslash or percent",
      ],
      detail: """
        browser (the default) does what browsers do: a quote, CR and LF become %22, %0D and %0A, and \
        everything else stays UTF-8. rfc2231 adds filename* for file names that need it, and writes a \
        backslash before it as %5C. backslash writes \\" and \\\\, as mail and old versions of curl do. \
        percent writes file names as in a file: URI (RFC 7578, section 2). parse and receive decode what \
        the profile escapes. Without the flag they read \\" as a quote, if a complete header results, and \
        everything else as it is.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.form.escaping = try argument.choice(
        for: "--escaping", "profile", among: EscapingProfile.all)
    },
    Flag(
      long: "browser-text", group: .wire, verbs: formVerbs,
      summary: "Turn a lone CR or LF in text fields into CRLF, as browsers do",
      detail: """
        Without the flag, text is sent byte for byte. Files, <PATH fields and values that are not UTF-8 \
        are never changed.
        """
    ) { (arguments, _) in arguments.form.browserText = true },
    Flag(
      long: "verify-boundary", group: .wire, verbs: formVerbs,
      summary: "Check that no file or stream contains the boundary",
      detail: """
        Files are read once more for this, before anything is written. A random boundary does not need it.
        """
    ) { (arguments, _) in arguments.form.verifiesBoundary = true },
  ]
}
