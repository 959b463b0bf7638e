/// The flags about the output, and the flags that every command has.
extension Flag {
  static let outputFlags = [
    Flag(
      long: "headers", group: .output, verbs: [.encode],
      summary: "Print the Content-Type and Content-Length lines, and not the body",
      detail: """
        At most the first 64 KiB of a file are read, to detect its type. Nothing is read if the type is \
        given, or --sniff is extension or none. --verify-boundary reads files completely. Give the same \
        --boundary here and where the body is made. If the length is not known, there is no Content-Length \
        line.
        """
    ) { (arguments, _) in arguments.printsHeaders = true },
    Flag(
      long: "dry-run", group: .output, verbs: [.encode, .post, .put],
      common: [.encode, .post, .put],
      summary: "Print what would be sent, with offsets; send nothing",
      summaries: [
        .encode: "Print an outline of the body, with offsets, in place of the body"
      ],
      detail: """
        At most the first 64 KiB of a file are read, to detect its type. A pipe is not read: its type is \
        detected by its name, and may differ when it is sent. Secrets are masked.
        """
    ) { (arguments, _) in arguments.request.isDryRun = true },
    Flag(
      long: "json", group: .output,
      verbs: [.parse, .sniff, .post, .put, .get, .send, .report, .receive, .bench],
      common: [.parse, .post, .put, .get, .send],
      summary: "Print records for scripts, one line of JSON each",
      detail: """
        post and put print a record instead of the response's body, also if they fail. get prints one for each \
        URL, and send one for each file and one at the end. bench prints one. report prints one, or with --failures one for each \
        file that was not accepted. receive prints a record that says where it listens, then one for each request.
        """
    ) { (arguments, _) in arguments.printsJSON = true },
    Flag(
      long: "null", short: "0", group: .output, verbs: [.sniff, .report],
      summary: "End each line with NUL, for names that have line breaks",
      summaries: [.report: "With a list: end each line with NUL, for names that have line breaks"]
    ) { (arguments, _) in arguments.endsWithNUL = true },
    Flag(
      long: "into", value: Value(placeholder: "DIR", completion: .directory, use: .directory),
      group: .output,
      verbs: [.parse, .receive], common: [.parse, .receive],
      summary: "Store the files in DIR, under safe names",
      detail: """
        DIR is made if it does not exist. Only the part of a file name after the last slash or backslash \
        is used, unless receive has --keep-paths. Characters that other systems forbid, and . - ~ + @ at the start, \
        become _. If a name is taken, the file gets a number, and no file is replaced, unless receive has --overwrite. \
        parse names a file when its part is complete, \
        and keeps it if the body turns out to be malformed later. receive names the files when the complete \
        request has arrived: a request that is cut off or refused leaves none. Text fields that are too long for \
        the record are stored too: over 64 KiB, or 16 MiB in all (receive: 256 KiB). kill -9 may leave \
        files whose names begin with .formstream-.
        """
    ) { (arguments, argument) in arguments.directory = argument },
    Flag(
      long: "output", short: "o",
      value: Value(placeholder: "FILE", completion: .path, use: .response),
      group: .output, verbs: [.encode, .post, .put, .get, .plan],
      common: [.encode, .post, .put, .get, .plan],
      summary: "Write to FILE; - is standard output, even if it is a terminal",
      detail: """
        The file appears under its name when it is complete, and not at all if something fails. An existing \
        file stays until then. The new file gets its permissions, but not its owner, and other hard links \
        keep the old file. FIFOs and devices are written directly. plan replaces no file. Of several, the \
        first is for the first request, and so on; with post and put, a single one is for all requests.
        """
    ) { (arguments, argument) in
      arguments.output = argument
      arguments.downloading.outputs.append(.file(argument))
    },
  ]

  static let generalFlags = [
    Flag(
      long: "config", short: "K", value: Value(placeholder: "FILE", completion: .path),
      group: .general,
      summary: "Read flags from FILE, one a line, before those on the command line",
      detail: """
        Each line holds one flag. Its value follows after a space or =, up to the end of the line; nothing \
        is quoted or escaped, except in the language of -F. Files of curl are read, too: a line is read as curl reads it if \
        its name has no hyphen before it, if a colon or a = between spaces follows the name, or if the value begins with a \
        double quote, as in url = "https://example.org/". In the quotes, \\" \\\\ \\t \\n \\r and \\v are escapes. Empty lines and \
        lines that begin with # are skipped. If a flag can only be used once, the last one counts, so the command line \
        overrides the file. - is standard input. While send runs without a terminal, SIGHUP makes it read the files again, \
        for -j, --limit-rate and --max-rate.
        """
    ) { (arguments, argument) in
      // ConfigFile has already put the flags of the file before all other flags.
      if argument.isDash { arguments.readsConfigFromStandardInput = true } else { arguments.readsConfigFile = true }
    },
    Flag(
      long: "generate",
      value: Value(placeholder: "KIND", completion: .choices(Document.allCases.map(\.rawValue))),
      group: .general,
      summary: "Print a page of the manual, or completions: man, bash, zsh or fish",
      detail: """
        man prints the page of the command that is given, and the main page if none is. The others print what completes \
        all commands in that shell.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let document = Document(rawValue: argument.shown) else {
        let known = Document.allCases.map(\.rawValue)
        throw .usage(
          "\(argument.named("--generate")) can't be generated: choose one of "
            + "\(known.joined(separator: ", ")).\(Suggestion.text(for: argument.shown, among: known))"
        )
      }
      arguments.document = arguments.document ?? .generated(document)
    },
    Flag(
      long: "help", short: "h", group: .general,
      summary: "Print this help"
    ) { (arguments, _) in arguments.document = .help },
    Flag(
      long: "version", short: "V", group: .general,
      summary: "Print the version"
    ) { (arguments, _) in arguments.document = arguments.document ?? .version },
  ]
}
