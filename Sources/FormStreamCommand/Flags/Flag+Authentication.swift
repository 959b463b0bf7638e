import FormStreamHTTP

/// The flags about the credentials of a request.
extension Flag {
  static let authenticationFlags = [
    Flag(
      long: "user", short: "u", value: Value(placeholder: "USER:PASS"), group: .request,
      verbs: Verb.requesting, common: Verb.likeCurl,
      summary: "User and password; --user-file is safer"
    ) { (arguments, argument) throws(Failure) in try arguments.request.set(.user(argument)) },
    Flag(
      long: "user-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: Verb.requesting,
      summary: "A file that holds USER:PASS; - is standard input"
    ) { (arguments, argument) throws(Failure) in try arguments.request.set(.userFile(argument)) },
    Flag(
      long: "basic", group: .request, verbs: Verb.requesting,
      summary: "Send user and password at once (Basic); the default"
    ) { (arguments, _) throws(Failure) in try arguments.request.set(.basic, of: "--basic") },
    Flag(
      long: "digest", group: .request, verbs: Verb.requesting,
      summary: "Use Digest authentication for user and password",
      detail: """
        The request is sent completely and without credentials, and again after the server has asked for them. A body \
        that can be read once, as from a pipe, is sent only after the server has asked for it. If the server doesn't offer Digest, the \
        password is not sent. Without --digest or --anyauth, the password is sent at once (Basic).
        """
    ) { (arguments, _) throws(Failure) in try arguments.request.set(.digest, of: "--digest") },
    Flag(
      long: "anyauth", group: .request, verbs: Verb.requesting,
      summary: "Use the strongest scheme for the password that the server offers",
      detail: "Digest, otherwise Basic. As with --digest, the server is asked first."
    ) { (arguments, _) throws(Failure) in
      try arguments.request.set(.strongestOffered, of: "--anyauth")
    },
    Flag(
      long: "token-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: Verb.requesting + [.receive], common: [.receive],
      summary: "A file that holds the token (Bearer) to send; - is standard input",
      summaries: [
        .receive: "A file that holds the token to require; - is standard input"
      ],
      detail: """
        receive accepts uploads only with this token: as Bearer, or as the password of Basic with any user, \
        which browsers ask for.
        """
    ) { (arguments, argument) throws(Failure) in try arguments.request.set(.tokenFile(argument)) },
    Flag(
      long: "token-env", value: Value(placeholder: "NAME"), group: .request,
      verbs: Verb.requesting,
      summary: "The environment variable that holds the token (Bearer) to send",
      detail: "For secrets that continuous integration hands out, such as --token-env CI_JOB_TOKEN."
    ) { (arguments, argument) throws(Failure) in
      try arguments.request.set(.tokenVariable(argument))
    },
    Flag(
      long: "oauth2-bearer", value: Value(placeholder: "TOKEN"), group: .request,
      verbs: Verb.requesting,
      summary: "The token (Bearer) to send; --token-file is safer"
    ) { (arguments, argument) throws(Failure) in try arguments.request.set(.token(argument)) },
    Flag(
      long: "netrc", short: "n", group: .request, verbs: Verb.requesting,
      summary: "Take the host's user and password from ~/.netrc",
      detail: """
        Only an entry for exactly this host is used, and "default" is not. -u, a token, an Authorization header and a \
        password in the URL take precedence; a user in the URL chooses the entry. After a redirect to another host \
        with -L, that host's entry is used.
        """
    ) { (arguments, _) in arguments.request.usesNetrc = true },
    Flag(
      long: "netrc-optional", group: .request, verbs: Verb.requesting,
      summary: "Like --netrc; no credentials are sent if ~/.netrc does not exist"
    ) { (arguments, _) in
      (arguments.request.usesNetrc, arguments.request.isNetrcOptional) = (true, true)
    },
    Flag(
      long: "netrc-file", value: Value(placeholder: "FILE", completion: .path), group: .request,
      verbs: Verb.requesting,
      summary: "Like --netrc, with FILE in place of ~/.netrc"
    ) { (arguments, argument) in
      (arguments.request.usesNetrc, arguments.request.netrcFile) = (true, argument)
    },
    Flag(
      long: "insecure-auth", group: .request, verbs: Verb.requesting,
      summary: "Don't warn that credentials are sent over http",
      detail: """
        Without the flag, a note warns if a user and password, a token, or an Authorization header go to another \
        machine without encryption.
        """
    ) { (arguments, _) in arguments.request.allowsInsecureAuth = true },
  ]
}
