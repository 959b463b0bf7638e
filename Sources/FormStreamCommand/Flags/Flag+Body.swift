import FormStreamHTTP

/// The flags for bodies that are not forms.
extension Flag {
  private static let bodyVerbs: [Verb] = [.post, .put]

  static let bodyFlags = [
    Flag(
      long: "upload-file", short: "T", value: Value(placeholder: "FILE", completion: .path),
      group: .body, verbs: bodyVerbs, common: [.post, .put],
      summary: "Send a file as it is; - is standard input",
      detail: """
        If the URL ends in /, the file's name is added to it. As with curl, no Content-Type is sent, unless --type TYPE or \
        -H 'Content-Type: TYPE' names one, or --sniff auto detects it. A pipe longer than --read-ahead is sent in chunks. \
        The flag can be repeated: each file is sent in a request of its own, one after another, either all to one URL that \
        ends in /, or each to a URL of its own. {a,b}, [1-9], [001-100:2] and [a-z] in FILE stand for several names, unless a \
        file has exactly this name. Files before the URL are sent, too, as in -T *.gif URL; their types are detected, as in \
        a form. @FILE before the URL sends one file in the same way, and adds no name to the URL. {a,b} and [1-9] in a URL \
        stand for several URLs, as in get.
        """
    ) { (arguments, argument) in
      // In curl, a dot is standard input that may pause.
      let isDot = argument.bytes == [UInt8(ascii: ".")]
      arguments.request.uploads.append(
        isDot ? Argument(bytes: "-".utf8, from: argument) : argument)
    },
    Flag(
      long: "globoff", short: "g", group: .body, verbs: bodyVerbs + [.get],
      summary: "Take [ ] { } in -T, and in URLs, as they are",
      summaries: [
        .get: "Take [ ] { } in URLs as they are"
      ]
    ) { (arguments, _) in arguments.request.isGlobbingOff = true },
    data(
      "data", "d", .text, "Send DATA, or the text in @FILE without its line breaks, as a form",
      ofGet: "With -G: DATA, or the text in @FILE without its line breaks",
      """
      DATA is sent as it is, without encoding. All data flags can be repeated and mixed; their values are \
      joined with &. Line breaks in @FILE (CR and LF) are left out, as in curl. A file with a NUL, which curl leaves out, \
      too, or that is not UTF-8 is refused: --data-binary sends it as it is. @- is standard input.
      """),
    data(
      "data-raw", nil, .raw, "Send DATA, even if it begins with @",
      ofGet: "With -G: DATA, even if it begins with @", ""),
    data(
      "data-binary", nil, .binary, "Send DATA, or @FILE with its line breaks",
      ofGet: "With -G: DATA, or @FILE with its line breaks",
      "A single file is streamed, whatever its size. Several files have to fit into memory."),
    data(
      "data-urlencode", nil, .encoded, "Encode CONTENT, =CONTENT, NAME=CONTENT, @FILE or NAME@FILE",
      ofGet: "With -G: encode CONTENT, =CONTENT, NAME=CONTENT, @FILE or NAME@FILE",
      "Only the content is encoded, not the name."),
    Flag(
      long: "json-body", value: Value(placeholder: "DATA", completion: .dataPath), group: .body,
      verbs: bodyVerbs,
      summary: "Send JSON: DATA, or @FILE as it is",
      detail: """
        Content-Type and Accept are application/json. The data is not checked to be JSON. If the flag is repeated, the data \
        is joined. curl's name for this flag is --json, which is understood if data follows it: a word that begins with {, [, @ \
        or a quote, a number, true, false or null.
        """
    ) { (arguments, argument) in arguments.request.json.append(argument) },
    Flag(
      long: "compressed-upload",
      value: Value(placeholder: "CODING", completion: .choices(["gzip"])),
      group: .body, verbs: Verb.sending,
      summary: "Compress the body while it is sent: gzip",
      detail: """
        For servers that accept it: Content-Encoding: gzip is sent with the body. The length of the body is then not known \
        beforehand: if it is longer than --read-ahead, it is sent in chunks and its progress has no total. Digests are \
        those of the compressed bytes. A server that responds 415 accepts no compressed bodies.
        """
    ) { (arguments, argument) throws(Failure) in
      guard argument.text == "gzip" else {
        throw .usage("\(argument.named("--compressed-upload")) is not a coding: write gzip.")
      }
      arguments.request.options.bodyCoding = .gzip
    },
  ]

  private static func data(
    _ long: String, _ short: Character?, _ kind: DataArgument.Kind, _ summary: String,
    ofGet: String, _ detail: String
  ) -> Flag {
    Flag(
      long: long, short: short,
      value: Value(placeholder: "DATA", completion: kind == .raw ? .none : .dataPath),
      group: .body, verbs: Verb.likeCurl, common: long == "data" ? [.post] : [], summary: summary,
      summaries: [.get: ofGet], detail: detail
    ) { (arguments, argument) in
      arguments.request.data.append(DataArgument(kind: kind, argument: argument))
    }
  }
}
