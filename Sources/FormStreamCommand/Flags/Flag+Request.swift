import FormStreamHTTP

/// The flags about the method, the URL and the headers of a request.
extension Flag {
  static let requestFlags = [
    Flag(
      long: "request", short: "X", value: Value(placeholder: "METHOD"), group: .request,
      verbs: Verb.requesting,
      summary: "Send this method instead of POST",
      summaries: [
        .put: "Send this method instead of PUT",
        .get: "Send this method instead of GET",
        .send: "Send this method instead of POST, or of PUT with --put",
      ]
    ) { (arguments, argument) in arguments.request.method = argument },
    Flag(
      long: "header", short: "H", value: Value(placeholder: "NAME: VALUE", completion: .dataPath),
      group: .request,
      verbs: Verb.requesting, common: [.post, .put, .get],
      summary: "Add a header; can be repeated",
      detail: """
        'NAME;' is a header without a value. 'NAME:' leaves a header out: Accept, Accept-Encoding, Content-Type, Expect or \
        User-Agent. @FILE does the same as --header-file, and @- reads standard input. Transfer-Encoding: chunked sends a \
        body in chunks although its length is known, Content-Length is accepted if it is true, and the Content-Type of a \
        form gets its boundary. Other headers about framing can't be set. Other users of this machine can see the command line: put secrets into \
        --header-file.
        """
    ) { (arguments, argument) in
      let isFile = argument.bytes.first == UInt8(ascii: "@")
      arguments.request.headers.append(
        isFile
          ? .file(Argument(bytes: argument.bytes.dropFirst(), from: argument))
          : .line(argument))
    },
    Flag(
      long: "header-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: Verb.requesting,
      summary: "A file of secret headers, one a line; - is standard input",
      detail: "The contents are never shown. A note says so if other users can read the file."
    ) { (arguments, argument) in arguments.request.headers.append(.file(argument)) },
    Flag(
      long: "url-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: Verb.requesting,
      summary: "A file that holds the URL, if it is a secret; - is standard input",
      detail: """
        Such as the URL of a webhook. Only its scheme, host and port are ever shown, unless -O names a file by it. In other \
        URLs, the values of query fields with names such as token, key, sig or password are masked.
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
      summary: "Add NAME=VALUE to the URL's query, encoded; can be repeated"
    ) { (arguments, argument) in arguments.request.query.append(argument) },
    Flag(
      long: "url-query", value: Value(placeholder: "DATA"), group: .request, verbs: Verb.likeCurl,
      summary: "Like --query, for CONTENT, NAME=CONTENT, @FILE or NAME@FILE, as in curl",
      detail: """
        As with --data-urlencode, only the content is encoded, not the name. +DATA is added as it is.
        """
    ) { (arguments, argument) in
      let isRaw = argument.bytes.first == UInt8(ascii: "+")
      arguments.request.queryData.append(
        DataArgument(
          kind: isRaw ? .raw : .encoded,
          argument: isRaw
            ? Argument(bytes: argument.bytes.dropFirst(), from: argument) : argument))
    },
    Flag(
      long: "get", short: "G", group: .request, verbs: Verb.likeCurl,
      summary: "Put the data of -d into the URL's query, and send GET",
      summaries: [
        .get: "Put the data of -d into the URL's query"
      ],
      detail: "The data flags have the same meaning as without -G. get accepts them only with it."
    ) { (arguments, _) in arguments.request.putsDataIntoURL = true },
    Flag(
      long: "head", short: "I", group: .request, verbs: Verb.likeCurl,
      summary: "Send HEAD, and print the head of the response"
    ) { (arguments, _) in
      (arguments.request.asksForHead, arguments.request.includesHeads) = (true, true)
    },
    Flag(
      long: "url", value: Value(placeholder: "URL"), group: .request, verbs: Verb.likeCurl,
      summary: "The URL, as if it stood without a flag"
    ) { (arguments, argument) throws(Failure) in
      if let verb = arguments.verb, verb.operand?.canBeRepeated == false,
        !arguments.operands.isEmpty
      {
        throw .usage(
          "\(argument.named("--url")) is one URL too many: \(verb.rawValue) takes one.")
      }
      arguments.operands.append(argument)
    },
    Flag(
      long: "path-as-is", group: .request, verbs: Verb.likeCurl,
      summary: "Leave . and .. in the path of the URL"
    ) { (arguments, _) in arguments.request.keepsPath = true },
    Flag(
      long: "request-target", value: Value(placeholder: "TARGET"), group: .request,
      verbs: Verb.likeCurl,
      summary: "Put TARGET into the request line, instead of the URL's path",
      detail: "Such as * with -X OPTIONS. A redirect is requested by its URL."
    ) { (arguments, argument) in arguments.request.requestTarget = argument },
    Flag(
      long: "referer", short: "e", value: Value(placeholder: "URL"), group: .request,
      verbs: Verb.likeCurl,
      summary: "The value of the Referer header"
    ) { (arguments, argument) throws(Failure) in
      guard !argument.shown.hasSuffix(";auto") else {
        throw .usage(
          "\(argument.named("--referer")) ends in ;auto: no Referer is made for redirects, so leave it out."
        )
      }
      arguments.request.headers.append(
        .line(Argument(bytes: Array("Referer: ".utf8) + argument.bytes, from: argument)))
    },
    Flag(
      long: "proto", value: Value(placeholder: "=https"), group: .request, verbs: Verb.likeCurl,
      summary: "Send nothing unless the URL begins with https:",
      detail: """
        This is curl's list of protocols: =https allows only https, and =https,http both, as without the flag. Others are \
        never used.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.request.requiresHTTPS = try requiresHTTPS(argument)
    },
    Flag(
      long: "proto-redir", value: Value(placeholder: "=https"), group: .request,
      verbs: Verb.likeCurl,
      summary: "Follow no redirect to a URL that begins with http:",
      detail: "The list is that of --proto. A redirect from https to http is followed in no case."
    ) { (arguments, argument) throws(Failure) in
      arguments.request.options.redirects.requiresHTTPS = try requiresHTTPS(argument)
    },
    Flag(
      long: "idempotency-key", value: Value(placeholder: "KEY"), group: .request,
      verbs: Verb.sending,
      summary: "The Idempotency-Key header; auto makes a random key",
      summaries: [
        .send: "Send an Idempotency-Key with each file; KEY is auto"
      ],
      detail: """
        A server that supports the header carries out requests with the same key only once, so --retry can \
        repeat a request that got no response. A client can't find out whether a server supports it: ask \
        the server's operator. send accepts only auto: each file has a key, which is the same in each run of a \
        manifest.
        """
    ) { (arguments, argument) in arguments.request.idempotencyKey = argument },
    Flag(
      long: "content-digest", group: .request, verbs: Verb.sending,
      summary: "Send a Content-Digest header; the body is read twice for it",
      detail: """
        If the body changes after its digest was computed, the request ends before its last byte, with 74.
        """
    ) { (arguments, _) in arguments.request.options.sendsDigest = true },
  ]
}

/// Whether a list of protocols allows only https.
private func requiresHTTPS(_ argument: Argument) throws(Failure) -> Bool {
  let words = argument.shown.split(separator: ",").map { $0.drop { "=+".contains($0) } }
  let others = words.filter { !["-all", "http", "https"].contains($0) }
  guard others.isEmpty, words.contains("https") else {
    throw .usage(
      "\(argument.named("--proto")) is not =https or =https,http: no other protocols are supported."
    )
  }
  // Without = or -all, the list only adds to the protocols that are allowed by default.
  return !words.contains("http")
    && (argument.bytes.first == UInt8(ascii: "=") || words.contains("-all"))
}
