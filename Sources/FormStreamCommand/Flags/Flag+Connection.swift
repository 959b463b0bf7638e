import FormStreamPlatform
import FormStreamHTTP

/// The flags about the connection to the server.
extension Flag {
  static let connectionFlags = [
    Flag(
      long: "http1.1", group: .connection, verbs: Verb.requesting,
      summary: "Use HTTP/1.1 only"
    ) { (arguments, _) in arguments.request.session.version = .http11 },
    Flag(
      long: "http2", group: .connection, verbs: Verb.requesting,
      summary: "Use HTTP/2 only with https, and HTTP/1.1 with http",
      detail: "Without the flag, HTTP/2 is used if the server offers it over TLS, but not for "
        + "bodies of more than 64 KiB or of unknown length: HTTP/1.1 sends these faster."
    ) { (arguments, _) in arguments.request.session.version = .http2OverTLS },
    Flag(
      long: "http2-prior-knowledge", group: .connection, verbs: Verb.requesting,
      summary: "Use HTTP/2 only, also with http",
      detail:
        "A server of HTTP/1.1 doesn't understand it, so this is for servers that are known to speak HTTP/2."
    ) { (arguments, _) in arguments.request.session.version = .http2 },
    Flag(
      long: "unix-socket", value: Value(placeholder: "PATH", completion: .path), group: .connection,
      verbs: Verb.requesting,
      summary: "Connect to the Unix socket at PATH, whatever the host of the URL"
    ) { (arguments, argument) throws(Failure) in
      guard !argument.bytes.isEmpty else {
        throw .usage("--unix-socket needs the path of a socket.")
      }
      guard argument.bytes.count <= maximumSocketPath else {
        throw .usage(
          "The path of --unix-socket has \(counted(argument.bytes.count, "byte", "bytes")), and a socket's path can have "
            + "\(maximumSocketPath): change to a directory near it, and give a shorter path from there."
        )
      }
      arguments.request.session.unixSocket = argument.path
    },
    Flag(
      long: "resolve", value: Value(placeholder: "HOST:PORT:ADDRESS"), group: .connection,
      verbs: Verb.requesting,
      summary: "Use ADDRESS for HOST and PORT, without looking HOST up; can be repeated"
    ) { (arguments, argument) throws(Failure) in
      let parts = argument.shown.split(separator: ":", maxSplits: 2)
      // As in curl, several addresses are separated by commas.
      if parts.count == 3, !parts[2].split(separator: ",", omittingEmptySubsequences: false).allSatisfy(isAddress) {
        throw .usage(
          "\(argument.named("--resolve")) has no address at its end: write one of IPv4 or IPv6, such as "
            + "127.0.0.1 or ::1."
        )
      }
      guard let address = argument.text.flatMap(HostAddress.init) else {
        throw .usage(
          "\(argument.named("--resolve")) is not an address of a host: write HOST:PORT:ADDRESS, such as "
            + "example.org:443:127.0.0.1.")
      }
      arguments.request.session.addresses.append(address)
    },
    Flag(
      long: "connect-to", value: Value(placeholder: "HOST:PORT:HOST:PORT"), group: .connection,
      verbs: Verb.requesting,
      summary: "Connect to the second HOST:PORT in place of the first; can be repeated",
      detail: """
        Each of the four may be empty: the first two then mean any, and the last two those of the URL. The Host header and \
        the certificate that is expected stay those of the URL.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let replacement = argument.text.flatMap(HostReplacement.init) else {
        throw .usage(
          "\(argument.named("--connect-to")) is not HOST:PORT:HOST:PORT: write it like "
            + "example.org:443:test.example.org:8443.")
      }
      arguments.request.session.replacedHosts.append(replacement)
    },
    Flag(
      long: "ipv4", short: "4", group: .connection, verbs: Verb.requesting,
      summary: "Use only addresses of IPv4"
    ) { (arguments, _) in arguments.request.session.addressFamily = .ipv4 },
    Flag(
      long: "ipv6", short: "6", group: .connection, verbs: Verb.requesting,
      summary: "Use only addresses of IPv6"
    ) { (arguments, _) in arguments.request.session.addressFamily = .ipv6 },
    Flag(
      long: "interface", value: Value(placeholder: "NAME"), group: .connection,
      verbs: Verb.requesting,
      summary: "Connect from this interface, address or host of this machine",
      detail: "if!NAME is only an interface, and host!NAME only an address or a host."
    ) { (arguments, argument) throws(Failure) in
      let name = try argument.text(for: "--interface")
      guard !name.isEmpty else {
        throw .usage("--interface needs the name of an interface, or an address.")
      }
      arguments.request.session.localInterface = name
    },
    Flag(
      long: "keepalive-time", value: Value(placeholder: "S"), group: .connection,
      verbs: Verb.requesting,
      summary: "Probe connections after S seconds without a byte (default: 60)"
    ) { (arguments, argument) throws(Failure) in
      let time = try argument.seconds(for: "--keepalive-time")
      guard (.seconds(1) ... .seconds(32767)).contains(time) else {
        throw .usage("\(argument.named("--keepalive-time")) is not a time from 1 to 32767 seconds.")
      }
      arguments.request.session.keepAliveTime = time
    },
    Flag(
      long: "no-keepalive", group: .connection, verbs: Verb.requesting,
      summary: "Don't probe connections that are silent"
    ) { (arguments, _) in arguments.request.session.keepAliveTime = nil },
  ]
}
