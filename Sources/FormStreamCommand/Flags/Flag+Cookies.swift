import FormStreamHTTP

/// The flags about cookies.
extension Flag {
  static let cookieFlags = [
    Flag(
      long: "cookie", short: "b",
      value: Value(
        placeholder: "NAME=VALUE|FILE", completion: .path, names: { $0.isCookie ? [] : [$0] }),
      group: .request, verbs: Verb.requesting,
      summary: "Send the cookies NAME=VALUE; ..., or those in FILE",
      detail: """
        A value with "=" in it is sent as it is, with the first server only. Anything else is a file in Netscape's format, as -c \
        writes it, or of Set-Cookie: lines; cookies that the server sets are then kept for the other requests of the \
        command. The head of a response is such a file, too. If the file does not exist, no cookies are sent, and a note \
        says so. '' only keeps what the server sets. Other users of this machine can see the command line: put secrets \
        into a file.
        """
    ) { (arguments, argument) in arguments.request.cookies.append(argument) },
    Flag(
      long: "cookie-jar", short: "c",
      value: Value(placeholder: "FILE", completion: .path, use: .written),
      group: .request, verbs: Verb.requesting,
      summary: "Keep cookies, and write them to FILE at the end",
      detail: """
        In Netscape's format, and so that only you can read it. The file appears when it is complete. With -b and the same FILE, the \
        cookies of one command go on in the next; the first time, the file need not exist.
        """
    ) { (arguments, argument) throws(Failure) in
      if argument.isDash {
        throw .usage(
          "-c writes a file, and - is standard output, which is for the response: name a file.")
      }
      arguments.request.cookieJar = argument
    },
    Flag(
      long: "junk-session-cookies", short: "j", group: .request, verbs: Verb.likeCurl,
      summary: "Leave out the cookies without an expiry date in the file of -b"
    ) { (arguments, _) in arguments.request.skipsSessionCookies = true },
    Flag(
      long: "show-cookies", group: .output, verbs: [.post, .put, .get],
      summary: "Show the cookies that the server sets, in -v and in records",
      detail:
        "Without the flag, the values of Set-Cookie are masked there, because they are secrets."
    ) { (arguments, _) in arguments.request.options.tracesSetCookie = true },
  ]
}
