/// The flags that make a body that is no form.
extension Flag {
  private static let bodyVerbs: [Verb] = [.post, .put]

  static let bodyFlags = [
    Flag(
      long: "upload-file", short: "T", value: Value(placeholder: "FILE", completion: .path),
      group: .body, verbs: bodyVerbs,
      summary: "Send a file as it is; - is standard input",
      detail: """
        A URL that ends in / gets the file's name behind it. The type is told as that of a form's file; \
        -H 'Content-Type: TYPE' knows better. A pipe is of unknown length, and is sent in chunks.
        """
    ) { (typed, argument) throws(Failure) in
      if typed.request.upload != nil {
        throw .usage("-T is given twice: a request carries one file; -F sends several.")
      }
      typed.request.upload = argument
    },
    data(
      "data", "d", .text, "Send DATA, or @FILE without its line breaks, as an encoded form",
      """
      Nothing is encoded: DATA goes out as it is. -d and its kin can be repeated and mixed; what they give \
      is joined by &. Of @FILE, CR, LF and NUL are left out, as curl does; @- is standard input.
      """),
    data("data-raw", nil, .raw, "The same, but @ is nothing special", ""),
    data(
      "data-binary", nil, .binary, "The same, but a file is sent as it is",
      "A single file is streamed, whatever its size; of several, each has to fit in memory."),
    data(
      "data-urlencode", nil, .encoded, "Encode: CONTENT, =CONTENT, NAME=CONTENT, @FILE, NAME@FILE",
      "Only the content is encoded; the name is taken as it is."),
    Flag(
      long: "json-body", value: Value(placeholder: "DATA"), group: .body, verbs: bodyVerbs,
      summary: "Send JSON: DATA, or @FILE as it is",
      detail: """
        With Content-Type and Accept: application/json. Whether it is JSON is not checked. curl calls this \
        --json, which asks for a record here.
        """
    ) { (typed, argument) throws(Failure) in
      if typed.request.json != nil {
        throw .usage("--json-body is given twice: give all of it at once.")
      }
      typed.request.json = argument
    },
  ]

  private static func data(
    _ long: String, _ short: Character?, _ kind: TypedData.Kind, _ summary: String, _ detail: String
  ) -> Flag {
    Flag(
      long: long, short: short, value: Value(placeholder: "DATA"), group: .body, verbs: bodyVerbs,
      summary: summary, detail: detail
    ) { (typed, argument) in
      typed.request.data.append(TypedData(kind: kind, argument: argument))
    }
  }
}
