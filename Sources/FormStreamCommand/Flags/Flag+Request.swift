import FormStreamTransfer

/// The flags about the method, the headers and the credentials of a request.
extension Flag {
  static let requestFlags = [
    Flag(
      long: "request", short: "X", value: Value(placeholder: "METHOD"), group: .request,
      verbs: Verb.requesting,
      summary: "Send this method instead of POST or PUT"
    ) { (arguments, argument) in arguments.request.method = argument },
    Flag(
      long: "header", short: "H", value: Value(placeholder: "NAME: VALUE"), group: .request,
      verbs: Verb.requesting, common: [.post, .put],
      summary: "Add a header; can be repeated",
      detail: """
        'NAME;' is a header without a value. Headers about the length and framing of the body can't be set. \
        Other users of this machine can see the command line: put secrets into --header-file.
        """
    ) { (arguments, argument) in arguments.request.headers.append(.line(argument)) },
    Flag(
      long: "header-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: Verb.requesting,
      summary: "Secret headers, one a line; - is standard input",
      detail: "The contents are never shown. A note says so if other users can read the file."
    ) { (arguments, argument) in arguments.request.headers.append(.file(argument)) },
    Flag(
      long: "user", short: "u", value: Value(placeholder: "USER:PASS"), group: .request,
      verbs: Verb.requesting,
      summary: "User and password (Basic); --user-file is safer"
    ) { (arguments, argument) throws(Failure) in try arguments.request.set(.user(argument)) },
    Flag(
      long: "user-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: Verb.requesting,
      summary: "A file that holds USER:PASS; - is standard input"
    ) { (arguments, argument) throws(Failure) in try arguments.request.set(.userFile(argument)) },
    Flag(
      long: "token-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: Verb.requesting + [.receive], common: [.receive],
      summary: "File with the token (Bearer) to send or require; - is standard input",
      detail: """
        receive accepts uploads only with this token: as Bearer, or as the password of Basic with any user, \
        which browsers ask for.
        """
    ) { (arguments, argument) throws(Failure) in try arguments.request.set(.tokenFile(argument)) },
    Flag(
      long: "insecure-auth", group: .request, verbs: Verb.requesting,
      summary: "Don't warn that credentials are sent over http",
      detail: """
        Without the flag, a note warns of a user and password, a token, or an Authorization header that others on \
        the way to another machine can read.
        """
    ) { (arguments, _) in arguments.request.allowsInsecureAuth = true },
    Flag(
      long: "url-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: Verb.requesting,
      summary: "File with a URL that is a secret, in place of URL; - is standard input",
      detail: """
        Such as the URL of a webhook. Only its scheme, host and port are ever shown. In other URLs, the values \
        of query fields with names such as token, key, sig or password are masked.
        """
    ) { (arguments, argument) in arguments.request.urlFile = argument },
    Flag(
      long: "user-agent", short: "A", value: Value(placeholder: "TEXT"), group: .request,
      verbs: Verb.requesting,
      summary: "The value of the User-Agent header"
    ) { (arguments, argument) in arguments.request.userAgent = argument },
    Flag(
      long: "query", value: Value(placeholder: "NAME=VALUE"), group: .request,
      verbs: Verb.requesting,
      summary: "Add to the URL's query, encoded; can be repeated"
    ) { (arguments, argument) in arguments.request.query.append(argument) },
    Flag(
      long: "idempotency-key", value: Value(placeholder: "KEY"), group: .request,
      verbs: Verb.requesting,
      summary: "The Idempotency-Key header; auto makes a random key",
      detail: """
        A server that supports the header carries out requests with the same key only once, so --retry can \
        repeat a request that got no response. A client can't find out whether a server supports it: ask \
        the server's operator. send accepts only auto: each file has a key, which is the same in each run of a \
        manifest.
        """
    ) { (arguments, argument) in arguments.request.idempotencyKey = argument },
    Flag(
      long: "content-digest", group: .request, verbs: Verb.requesting,
      summary: "Send a Content-Digest header; the body is read twice for it"
    ) { (arguments, _) in arguments.request.options.sendsDigest = true },
  ]
}

extension RequestArguments {
  fileprivate mutating func set(_ credentials: CredentialsArgument) throws(Failure) {
    if self.credentials != nil {
      throw .usage("-u, --user-file and --token-file all set the credentials: give one of them.")
    }
    self.credentials = credentials
  }
}
