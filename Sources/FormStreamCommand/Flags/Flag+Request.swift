import FormStreamTransfer

/// The flags about the method, the URL and the headers of a request.
extension Flag {
  static let requestFlags = [
    Flag(
      long: "request", short: "X", value: Value(placeholder: "METHOD"), group: .request,
      verbs: Verb.sending,
      summary: "Send this method instead of POST or PUT"
    ) { (arguments, argument) in arguments.request.method = argument },
    Flag(
      long: "header", short: "H", value: Value(placeholder: "NAME: VALUE"), group: .request,
      verbs: Verb.requesting, common: [.post, .put, .get],
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
      verbs: Verb.sending,
      summary: "The Idempotency-Key header; auto makes a random key",
      detail: """
        A server that supports the header carries out requests with the same key only once, so --retry can \
        repeat a request that got no response. A client can't find out whether a server supports it: ask \
        the server's operator. send accepts only auto: each file has a key, which is the same in each run of a \
        manifest.
        """
    ) { (arguments, argument) in arguments.request.idempotencyKey = argument },
    Flag(
      long: "content-digest", group: .request, verbs: Verb.sending,
      summary: "Send a Content-Digest header; the body is read twice for it"
    ) { (arguments, _) in arguments.request.options.sendsDigest = true },
  ]
}
