import FormStreamTransfer

/// The flags about the connection to the server and about TLS.
extension Flag {
  static let connectionFlags = [
    Flag(
      long: "http1.1", group: .connection, verbs: Verb.requesting,
      summary: "Use HTTP/1.1 only"
    ) { (arguments, _) in arguments.request.session.version = .http11 },
    Flag(
      long: "http2", group: .connection, verbs: Verb.requesting,
      summary: "Use HTTP/2 only, also without TLS",
      detail: "Without the flag, HTTP/2 is used if the server offers it over TLS, but not for "
        + "bodies of more than 64 KiB or of unknown length: HTTP/1.1 sends these faster."
    ) { (arguments, _) in arguments.request.session.version = .http2 },
    Flag(
      long: "unix-socket", value: Value(placeholder: "PATH", completion: .path), group: .connection,
      verbs: Verb.requesting,
      summary: "Connect to this socket, whatever the host of the URL"
    ) { (arguments, argument) throws(Failure) in
      guard !argument.bytes.isEmpty else {
        throw .usage("--unix-socket needs the path of a socket.")
      }
      guard argument.bytes.count <= maximumSocketPath else {
        throw .usage(
          "The path of --unix-socket has \(argument.bytes.count) bytes, and a socket's path can have "
            + "\(maximumSocketPath): change to a directory near it, and give a shorter path from there."
        )
      }
      arguments.request.session.unixSocket = argument.path
    },
    Flag(
      long: "resolve", value: Value(placeholder: "HOST:PORT:ADDRESS"), group: .connection,
      verbs: Verb.requesting,
      summary: "Use this address for the host; can be repeated"
    ) { (arguments, argument) throws(Failure) in
      guard let address = argument.text.flatMap(HostAddress.init) else {
        throw .usage(
          "\(argument.named("--resolve")) is not an address of a host: write HOST:PORT:ADDRESS, such as "
            + "example.org:443:127.0.0.1.")
      }
      let named = argument.shown.split(separator: ":", maxSplits: 2).last ?? ""
      // As in curl, several addresses are separated by commas.
      for text in named.split(separator: ",", omittingEmptySubsequences: false)
      where !isAddress(text) {
        throw .usage(
          "\(argument.named("--resolve")) has no address at its end: write one of IPv4 or IPv6, such as "
            + "127.0.0.1 or ::1."
        )
      }
      arguments.request.session.addresses.append(address)
    },
    Flag(
      long: "cacert", value: Value(placeholder: "FILE", completion: .path), group: .connection,
      verbs: Verb.requesting,
      summary: "Trust the authorities in FILE (PEM), and no others"
    ) { (arguments, argument) in arguments.request.session.tls.authorities = argument.path },
    Flag(
      long: "cert", short: "E", value: Value(placeholder: "FILE", completion: .path),
      group: .connection, verbs: Verb.requesting,
      summary: "Use the client certificate in FILE (PEM)"
    ) { (arguments, argument) in arguments.request.session.tls.certificate = argument.path },
    Flag(
      long: "key", value: Value(placeholder: "FILE", completion: .path), group: .connection,
      verbs: Verb.requesting,
      summary: "The key of --cert (PEM), if it is not in the same file"
    ) { (arguments, argument) in arguments.request.session.tls.key = argument.path },
    Flag(
      long: "insecure", group: .connection, verbs: Verb.requesting,
      summary: "Don't check the identity of the server",
      detail: """
        Anyone on the network path can then read and change everything, secrets included. A note says \
        so each time. Nearly always, --cacert is the right flag instead.
        """
    ) { (arguments, _) in arguments.request.session.tls.verifiesServer = false },
  ]
}
