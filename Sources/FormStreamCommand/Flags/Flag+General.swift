import FormStreamPlatform

/// The flags that decide what comes out, and those that every command knows.
extension Flag {
  static let outputFlags = [
    Flag(
      long: "headers", group: .output, verbs: [.encode],
      summary: "Print the Content-Type and Content-Length lines, not the body",
      detail: """
        Of a file no more is read than its first 64 KiB, to tell its type, and nothing where its type is \
        given or --sniff is extension or none; but for --verify-boundary. Give the same --boundary here and where the body is made. \
        Where the length can't be known there is no Content-Length line.
        """
    ) { (typed, _) in typed.printsHeaders = true },
    Flag(
      long: "dry-run", group: .output, verbs: [.encode, .post, .put],
      summary: "Print what would be sent, with offsets",
      detail: """
        Of a file no more is read than its first 64 KiB, to tell its type; a pipe is not read at all, so \
        its type is told by its name, and may be another when it is sent. Nothing goes over the wire; \
        secrets are masked.
        """
    ) { (typed, _) in typed.isDryRun = true },
    Flag(
      long: "json", group: .output, verbs: [.parse, .sniff, .post, .put, .receive],
      summary: "Print records, one line of JSON each, in place of what is for people",
      detail: """
        post and put print a record in place of the answer's body, also where they failed. receive prints \
        one that says where it listens, then one for each request.
        """
    ) { (typed, _) in typed.printsJSON = true },
    Flag(
      long: "null", short: "0", group: .output, verbs: [.sniff],
      summary: "End each line with NUL, for names with line breaks in them"
    ) { (typed, _) in typed.endsWithNUL = true },
    Flag(
      long: "into", value: Value(placeholder: "DIR", completion: .path), group: .output,
      verbs: [.parse, .receive],
      summary: "Store the files in DIR, under names that are safe",
      detail: """
        DIR is made where it is not there. Of a file name only what is behind the last slash or \
        backslash counts; characters that other systems don't take, and . - ~ + @ at the start, \
        become _. A name that is taken gets a number: nothing is ever written over. In parse, a file has its \
        name when its part is whole; it stays where the body turns out to be broken further on. In receive, \
        files have their names when all of their request came: one that breaks off or is refused leaves \
        none. There --overwrite lets a file replace another, and --keep-paths keeps directories. Text fields \
        too long for the record are stored, too: over 64 KiB, or 16 MiB in all (receive: 256 KiB). A kill -9 \
        may leave files called .formstream- and a mark.
        """
    ) { (typed, argument) in typed.directory = argument },
    Flag(
      long: "output", short: "o", value: Value(placeholder: "FILE", completion: .path),
      group: .output, verbs: [.encode, .post, .put],
      summary: "Write to FILE; - is standard output, also where that is a terminal",
      detail: """
        A file appears under its name when it is whole, and not at all where something failed; one \
        that was there stays until then, and the new one has its permissions, but is another file: \
        hard links and the owner do not carry over. FIFOs and devices are written as they are.
        """
    ) { (typed, argument) in typed.output = argument },
  ]

  static let generalFlags = [
    Flag(
      long: "config", short: "K", value: Value(placeholder: "FILE", completion: .path),
      group: .general,
      summary: "Take flags from FILE, one a line, before those given here",
      detail: """
        Each line holds one flag, its value behind a space or =, to the end of the line: nothing is \
        quoted or escaped, but by the language of -F. Empty lines and those that begin with # are \
        passed over. Of a flag that counts once, the last counts, so the command line wins.
        """
    ) { (_, _) in /* Its flags were put before the others, by then: see ConfigFile. */ },
    Flag(
      long: "generate",
      value: Value(placeholder: "KIND", completion: .choices(Document.allCases.map(\.rawValue))),
      group: .general,
      summary: "Print the man page or completions: man, bash, zsh or fish"
    ) { (typed, argument) throws(Failure) in
      guard let document = Document(rawValue: argument.shown) else {
        let known = Document.allCases.map(\.rawValue)
        throw .usage(
          "--generate \"\(argument.shown)\" is nothing that can be made: choose one of "
            + "\(known.joined(separator: ", ")).\(Suggestion.text(for: argument.shown, among: known))"
        )
      }
      typed.document = typed.document ?? .generated(document)
    },
    Flag(
      long: "help", short: "h", group: .general,
      summary: "Print this help"
    ) { (typed, _) in typed.document = .help },
    Flag(
      long: "version", short: "V", group: .general,
      summary: "Print the version"
    ) { (typed, _) in typed.document = typed.document ?? .version },
  ]
}
