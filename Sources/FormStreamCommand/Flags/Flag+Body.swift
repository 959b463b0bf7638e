import FormStreamTransfer

/// The flags for bodies that are not forms.
extension Flag {
  private static let bodyVerbs: [Verb] = [.post, .put]

  static let bodyFlags = [
    Flag(
      long: "upload-file", short: "T", value: Value(placeholder: "FILE", completion: .path),
      group: .body, verbs: bodyVerbs, common: [.put],
      summary: "Send a file as it is; - is standard input",
      detail: """
        If the URL ends in /, the file's name is added. The type is detected in the same way as that of a \
        form's file; -H 'Content-Type: TYPE' sets it. A pipe longer than --read-ahead is sent \
        in chunks.
        """
    ) { (arguments, argument) throws(Failure) in
      if arguments.request.upload != nil {
        throw .usage("-T is given twice: a request sends one file; -F sends several.")
      }
      arguments.request.upload = argument
    },
    data(
      "data", "d", .text, "Send DATA, or @FILE without its line breaks, as an encoded form",
      """
      DATA is sent as it is, without encoding. All data flags can be repeated and mixed; their values are \
      joined with &. CR, LF and NUL in @FILE are left out, as in curl; @- is standard input.
      """),
    data("data-raw", nil, .raw, "Send DATA, even if it begins with @", ""),
    data(
      "data-binary", nil, .binary, "Send DATA, or @FILE with its line breaks",
      "A single file is streamed, whatever its size. Several files have to fit into memory."),
    data(
      "data-urlencode", nil, .encoded, "Encode CONTENT, =CONTENT, NAME=CONTENT, @FILE or NAME@FILE",
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
    _ detail: String
  ) -> Flag {
    Flag(
      long: long, short: short,
      value: Value(placeholder: "DATA", completion: kind == .raw ? .none : .dataPath),
      group: .body, verbs: Verb.likeCurl, summary: summary, detail: detail
    ) { (arguments, argument) in
      arguments.request.data.append(DataArgument(kind: kind, argument: argument))
    }
  }
}
