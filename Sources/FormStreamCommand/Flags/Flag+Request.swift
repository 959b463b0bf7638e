import FormStreamTransfer

/// The flags that say what a request is, and who sends it.
extension Flag {
  private static let requestVerbs: [Verb] = [.post, .put]

  static let requestFlags = [
    Flag(
      long: "request", short: "X", value: Value(placeholder: "METHOD"), group: .request,
      verbs: requestVerbs,
      summary: "The method, where it is another than the command's"
    ) { (typed, argument) in typed.request.method = argument },
    Flag(
      long: "header", short: "H", value: Value(placeholder: "NAME: VALUE"), group: .request,
      verbs: requestVerbs,
      summary: "One more header; can be given again",
      detail: """
        'NAME;' is a header without a value. What frames the body is made, and can't be set. Other \
        people on this machine see the command line: secrets belong into --header-file.
        """
    ) { (typed, argument) in typed.request.headers.append(.line(argument)) },
    Flag(
      long: "header-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: requestVerbs,
      summary: "Secret headers, a line each; - is standard input",
      detail: "What stands there is never shown. A file that others can read is warned about."
    ) { (typed, argument) in typed.request.headers.append(.file(argument)) },
    Flag(
      long: "user", short: "u", value: Value(placeholder: "USER:PASS"), group: .request,
      verbs: requestVerbs,
      summary: "User and password (Basic); better in --user-file"
    ) { (typed, argument) throws(Failure) in try typed.request.set(.user(argument)) },
    Flag(
      long: "user-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: requestVerbs,
      summary: "A file with USER:PASS; - is standard input"
    ) { (typed, argument) throws(Failure) in try typed.request.set(.userFile(argument)) },
    Flag(
      long: "token-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: requestVerbs + [.receive],
      summary: "A file with a token (Bearer) to send or ask for; - is standard input",
      detail: """
        receive takes uploads from those only who send this token: as Bearer, or as the password of Basic, \
        which browsers ask for, with any user.
        """
    ) { (typed, argument) throws(Failure) in try typed.request.set(.tokenFile(argument)) },
    Flag(
      long: "user-agent", short: "A", value: Value(placeholder: "TEXT"), group: .request,
      verbs: requestVerbs,
      summary: "What the User-Agent header says"
    ) { (typed, argument) in typed.request.userAgent = argument },
    Flag(
      long: "query", value: Value(placeholder: "NAME=VALUE"), group: .request, verbs: requestVerbs,
      summary: "Add to the URL's query, encoded; can be given again"
    ) { (typed, argument) in typed.request.query.append(argument) },
    Flag(
      long: "idempotency-key", value: Value(placeholder: "KEY"), group: .request,
      verbs: requestVerbs,
      summary: "The Idempotency-Key header; auto draws one",
      detail: """
        A server that knows the header carries out a request with the same key once, so that --retry may \
        send again what got no answer. Nothing tells whether a server does: ask who runs it.
        """
    ) { (typed, argument) in typed.request.idempotencyKey = argument },
    Flag(
      long: "content-digest", group: .request, verbs: requestVerbs,
      summary: "Send a Content-Digest header; the body is read twice for it"
    ) { (typed, _) in typed.request.options.sendsDigest = true },
  ]
}

extension TypedRequest {
  fileprivate mutating func set(_ credentials: TypedCredentials) throws(Failure) {
    if self.credentials != nil {
      throw .usage("-u, --user-file and --token-file each say who sends the request: give one.")
    }
    self.credentials = credentials
  }
}
