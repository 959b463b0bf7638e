import FormStreamHTTP

/// The flags that print more than the body of the response, or less.
extension Flag {
  static let printingFlags = [
    Flag(
      long: "include", short: "i", group: .output, verbs: Verb.likeCurl,
      summary: "Write the head of the response before its body",
      detail: """
        The head is written as it arrived, cookies and other secrets in it included; those of redirects and retries come \
        before it. With -o, it goes into the file.
        """
    ) { (arguments, _) in arguments.request.includesHeads = true },
    Flag(
      long: "dump-header", short: "D",
      value: Value(placeholder: "FILE", completion: .path, use: .written),
      group: .output, verbs: Verb.likeCurl,
      summary: "Write the heads of responses to FILE; - is standard output",
      detail: """
        They look as with -i. They are written at the end, also if the request fails, and have the trailers that come after \
        a body in chunks. If there was no response, the file is empty.
        """
    ) { (arguments, argument) in arguments.request.headFile = argument },
    Flag(
      long: "write-out", short: "w", value: Value(placeholder: "FORMAT", completion: .dataPath),
      group: .output,
      verbs: Verb.likeCurl,
      summary: "Print FORMAT at the end, such as '%{http_code}\\n'; @FILE reads it",
      detail: """
        %{NAME} is a value, \\n, \\t and \\r are a line feed, a tab and a carriage return, and %% is a percent sign. The values \
        have curl's names: \(WriteOutValue.allCases.map(\.rawValue).joined(separator: ", ")). %header{NAME} is a header of the \
        response. What follows %{stderr} goes to standard error. exitcode is the exit code of formstream. URLs are \
        complete, secrets in them included, except the URL of --url-file.
        """
    ) { (arguments, argument) in arguments.request.writeOut = argument },
    Flag(
      long: "fail", short: "f", group: .output, verbs: Verb.likeCurl,
      summary: "Don't print the response of a refused request",
      detail:
        "Without the flag the response is printed, as with curl's --fail-with-body; with get -j and lists, a part of its text is in the message. In both cases the exit code and a message say that the request was refused."
    ) { (arguments, _) in arguments.request.hidesRefused = true },
    Flag(
      long: "silent", short: "s", group: .output, verbs: Verb.likeCurl,
      summary: "Print no notes, no progress, and not why a request failed",
      detail: "Only the exit code then says that a request failed. A wrong command line is always explained."
    ) { (arguments, _) in
      (arguments.request.isSilent, arguments.request.isQuiet) = (true, true)
    },
    Flag(
      long: "show-error", short: "S", group: .output, verbs: Verb.likeCurl,
      summary: "With -s, print why a request failed"
    ) { (arguments, _) in arguments.request.showsErrors = true },
  ]
}
