import FormStreamMultipart

/// The flags that make up a form; every command that sends one knows them.
extension Flag {
  private static let formVerbs: [Verb] = [.encode, .post, .put]

  static let partFlags = [
    Flag(
      long: "form", short: "F", value: Value(placeholder: "NAME=CONTENT", completion: .formPath),
      group: .parts, verbs: formVerbs,
      summary: "Add a part as in curl: NAME=VALUE, NAME=@FILE, NAME=<FILE",
      detail: """
        NAME=VALUE is a text field, NAME=@PATH a file, NAME=<PATH a text field whose value is the \
        file's contents; the path - is standard input. Behind it may stand ;type=TYPE, \
        ;filename=NAME and ;headers=LINE or ;headers=@PATH. A value, path or name in double quotes \
        may hold anything, with \\" and \\\\ for a quote and a backslash. What curl has beyond that \
        (lists of files, encoders, nested parts) is an error, not a guess: repeat the flag, or use \
        --field and --file, which have no language at all.
        """
    ) { (typed, argument) throws(Failure) in typed.parts.append(try FormLanguage.parse(argument)) },
    Flag(
      long: "field", value: Value(placeholder: "NAME=VALUE"), group: .parts, verbs: formVerbs,
      summary: "Add a text field; all behind the first = is its value",
      detail: "Nothing in the value is special: no quotes, no escapes, no leading @ or <."
    ) { (typed, argument) throws(Failure) in
      let (name, value) = try TypedPart.split(argument, of: "--field", as: "NAME=VALUE")
      typed.parts.append(TypedPart(name: name, content: .value(value), spelling: "--field"))
    },
    Flag(
      long: "file", value: Value(placeholder: "NAME=PATH", completion: .namedPath), group: .parts,
      verbs: formVerbs,
      summary: "Add a file; all behind the first = is its path, - is standard input",
      detail: """
        Nothing in the path is special, but that - alone is standard input (./- is a file of that \
        name). A FIFO or device is read as it comes, once; the form is then of unknown length, as \
        it is for standard input where that is not a regular file. A file must stay as it is from \
        the moment the form is laid out until its last byte is read.
        """
    ) { (typed, argument) throws(Failure) in
      let (name, path) = try TypedPart.split(argument, of: "--file", as: "NAME=PATH")
      typed.parts.append(TypedPart(name: name, content: .file(path), spelling: "--file"))
    },
  ]

  static let previousPartFlags = [
    Flag(
      long: "type", value: Value(placeholder: "TYPE"), group: .previousPart, verbs: formVerbs,
      summary: "Its media type, such as image/png",
      detail: "Without it, a file is application/octet-stream and a text field bears no type."
    ) { (typed, argument) throws(Failure) in
      try typed.setOnPartBefore("--type", \.type, to: try argument.text(for: "--type"))
    },
    Flag(
      long: "filename", value: Value(placeholder: "NAME"), group: .previousPart, verbs: formVerbs,
      summary: "Its file name, in place of the path's last component"
    ) { (typed, argument) throws(Failure) in
      try typed.setOnPartBefore("--filename", \.filename, to: try argument.text(for: "--filename"))
    },
    Flag(
      long: "part-header", value: Value(placeholder: "NAME: VALUE"), group: .previousPart,
      verbs: formVerbs,
      summary: "One more header; can be given again",
      detail: "Content-Disposition, Content-Type and Content-Length are made, and can't be set."
    ) { (typed, argument) throws(Failure) in
      let line = try argument.text(for: "--part-header")
      try typed.changePartBefore("--part-header") { $0.headers.append(line) }
    },
    Flag(
      long: "range", value: Value(placeholder: "OFF:LEN"), group: .previousPart, verbs: formVerbs,
      summary: "LEN bytes of the file from byte OFF on; OFF: is up to its end",
      detail: "OFF counts from 0. A range that the file does not hold is an error."
    ) { (typed, argument) throws(Failure) in
      try typed.setOnPartBefore("--range", \.range, to: try TypedPart.range(argument))
    },
  ]

  static let wireFlags = [
    Flag(
      long: "boundary", value: Value(placeholder: "B"), group: .wire,
      verbs: formVerbs + [.parse],
      summary: "The form's boundary; one is drawn at random without it",
      detail: """
        Where a form is made it is for reproducible bytes: text that is part of the command line is always \
        searched for it; files and streams only with --verify-boundary. In parse it is the one that \
        the body was made with, without the two hyphens before it.
        """
    ) { (typed, argument) throws(Failure) in
      typed.boundary = try argument.text(for: "--boundary")
    },
    Flag(
      long: "escaping",
      value: Value(
        placeholder: "PROFILE",
        completion: .choices(EscapingProfile.all.map(\.description))),
      group: .wire, verbs: formVerbs + [.parse, .receive],
      summary: "How names are escaped: browser, rfc2231, backslash or percent",
      detail: """
        browser (the default) does as browsers do: a quote, CR and LF become %22, %0D and %0A, all \
        else is raw UTF-8. rfc2231 adds filename* for file names that need it, and writes a \
        backslash before it as %5C. backslash writes \
        \\" and \\\\, as mail and old curl do. percent writes file names as in a file: URI \
        (RFC 7578, section 2). parse and receive decode what the profile escapes; without one, they take \\" for a \
        quote, where that leaves a whole header, and all else as it stands.
        """
    ) { (typed, argument) throws(Failure) in
      typed.escaping = try argument.choice(
        for: "--escaping", "profile", among: EscapingProfile.all)
    },
    Flag(
      long: "browser-text", group: .wire, verbs: formVerbs,
      summary: "Make lone CR or LF in text fields CRLF, as browsers do",
      detail: """
        Without it, text is sent byte for byte. Files, <PATH fields and values that are not UTF-8 \
        are, in any case.
        """
    ) { (typed, _) in typed.browserText = true },
    Flag(
      long: "verify-boundary", group: .wire, verbs: formVerbs,
      summary: "Search files and streams for the boundary too",
      detail: """
        Files are read once more for it, before anything is written. A boundary drawn at random \
        does not need it.
        """
    ) { (typed, _) in typed.verifiesBoundary = true },
  ]
}
