import FormStreamTransfer

/// The flags that say how a server is reached, and what proves who is who.
extension Flag {
  private static let connectionVerbs: [Verb] = [.post, .put]

  static let connectionFlags = [
    Flag(
      long: "http1.1", group: .connection, verbs: connectionVerbs,
      summary: "Speak HTTP/1.1 alone"
    ) { (typed, _) in typed.request.session.version = .http11 },
    Flag(
      long: "http2", group: .connection, verbs: connectionVerbs,
      summary: "Speak HTTP/2, without TLS also",
      detail: "Without the flag HTTP/2 is spoken where TLS finds that the server does."
    ) { (typed, _) in typed.request.session.version = .http2 },
    Flag(
      long: "unix-socket", value: Value(placeholder: "PATH", completion: .path), group: .connection,
      verbs: connectionVerbs,
      summary: "Go to this socket, whatever host the URL names"
    ) { (typed, argument) throws(Failure) in
      guard !argument.bytes.isEmpty else { throw .usage("--unix-socket needs a socket's path.") }
      guard argument.bytes.count <= maximumSocketPath else {
        throw .usage(
          "The path of --unix-socket has \(argument.bytes.count) bytes, and a socket's can have "
            + "\(maximumSocketPath): go nearer to it, and name it from there.")
      }
      typed.request.session.unixSocket = argument.path
    },
    Flag(
      long: "resolve", value: Value(placeholder: "HOST:PORT:ADDRESS"), group: .connection,
      verbs: connectionVerbs,
      summary: "Take this address for the host; can be given again"
    ) { (typed, argument) throws(Failure) in
      guard let address = argument.text.flatMap(HostAddress.init) else {
        throw .usage(
          "--resolve can't be \"\(argument.shown)\": write HOST:PORT:ADDRESS, such as "
            + "example.org:443:127.0.0.1.")
      }
      let named = argument.shown.split(separator: ":", maxSplits: 2).last ?? ""
      // curl takes several, with commas between them.
      for text in named.split(separator: ",", omittingEmptySubsequences: false)
      where !isAddress(text) {
        throw .usage(
          "\"\(text)\" of --resolve is no address: write one of IPv4 or IPv6, such as 127.0.0.1 or ::1."
        )
      }
      typed.request.session.addresses.append(address)
    },
    Flag(
      long: "cacert", value: Value(placeholder: "FILE", completion: .path), group: .connection,
      verbs: connectionVerbs,
      summary: "Trust the authorities in FILE (PEM), not the system's"
    ) { (typed, argument) in typed.request.session.tls.authorities = argument.path },
    Flag(
      long: "cert", short: "E", value: Value(placeholder: "FILE", completion: .path),
      group: .connection, verbs: connectionVerbs,
      summary: "Come with the certificate in FILE (PEM)"
    ) { (typed, argument) in typed.request.session.tls.certificate = argument.path },
    Flag(
      long: "key", value: Value(placeholder: "FILE", completion: .path), group: .connection,
      verbs: connectionVerbs,
      summary: "The key for --cert (PEM); else it is in the same file"
    ) { (typed, argument) in typed.request.session.tls.key = argument.path },
    Flag(
      long: "insecure", group: .connection, verbs: connectionVerbs,
      summary: "Don't ask the server to prove who it is",
      detail: """
        Whoever stands between can then read and change everything, secrets included. A note says each time \
        that the flag was used. --cacert is nearly always what is meant.
        """
    ) { (typed, _) in typed.request.session.tls.verifiesServer = false },
  ]
}
