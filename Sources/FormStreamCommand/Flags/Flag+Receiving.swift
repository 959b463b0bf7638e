import FormStreamMultipart

/// The flags of `receive` that no other command has.
extension Flag {
  static let receivingFlags = [
    Flag(
      long: "listen", value: Value(placeholder: "ADDR:PORT"), group: .receiving, verbs: [.receive],
      common: [.receive],
      summary: "The address and port to listen at (default: 127.0.0.1:8080)",
      detail: """
        The address is numeric, or localhost; an IPv6 address is in brackets. A port alone listens at \
        127.0.0.1, :PORT listens at all addresses, and port 0 is any free port.
        """
    ) { (arguments, argument) in arguments.receiving.listen = argument },
    Flag(
      long: "once", group: .receiving, verbs: [.receive], common: [.receive],
      summary: "End after one accepted upload; refused and empty ones don't count",
      detail: """
        An empty upload is a form without parts, or the page without a file. Uploads that are in progress at that time get 10 seconds to finish; no new ones are accepted.
        """
    ) { (arguments, _) in arguments.receiving.isOnce = true },
    Flag(
      long: "tls-cert", value: Value(placeholder: "FILE", completion: .path), group: .receiving,
      verbs: [.receive],
      summary: "Use TLS with this certificate (PEM, with its chain); needs --tls-key"
    ) { (arguments, argument) in arguments.receiving.certificate = argument },
    Flag(
      long: "tls-key", value: Value(placeholder: "FILE", completion: .path), group: .receiving,
      verbs: [.receive],
      summary: "The private key of --tls-cert (PEM, without a password)"
    ) { (arguments, argument) in arguments.receiving.key = argument },
    Flag(
      long: "max-body", value: Value(placeholder: "N"), group: .receiving, verbs: [.receive],
      summary: "Refuse bodies of more than N bytes; N may end in K, M, G or T",
      detail: """
        The same as --limit body=N. Without it, a URL-encoded body may have 16 MiB, and others have no limit. A body that \
        announces its length is refused when its head has arrived.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let size = Int64(size: argument.shown) else {
        throw .usage(
          "\(argument.named("--max-body")) is not a size: write a number of bytes, with or without K, M, G or T at the "
            + "end, such as 10M.")
      }
      arguments.limits[.body] = size
    },
    Flag(
      long: "min-rate", value: Value(placeholder: "N"), group: .receiving, verbs: [.receive],
      summary: "Cut off clients below N bytes a second over a minute (default: 100)",
      detail: """
        That is the rate at which a client sends a body, and at which it reads responses. A client may pause if it makes \
        up for that within the minute, but it may never pause for a complete minute. N may end in K or M.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let rate = Int64(size: argument.shown), let rate = Int(exactly: rate) else {
        throw .usage(
          "\(argument.named("--min-rate")) is not a rate: write a number of bytes, such as 10K.")
      }
      arguments.receiving.minimumRate = rate
    },
    Flag(
      long: "head-time", value: Value(placeholder: "S"), group: .receiving, verbs: [.receive],
      summary: "Close connections on which no request's head arrives for S seconds (30)",
      detail: """
        The time begins with the connection, or with the end of a response. S is at least 0.1. A connection may be \
        closed later, by up to an eighth of S.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.receiving.headTime = try timeLimit(argument, for: "--head-time")
    },
    Flag(
      long: "response-time", value: Value(placeholder: "S"), group: .receiving, verbs: [.receive],
      summary: "Close connections whose client takes S seconds to read a response (60)",
      detail: """
        The client can't know then whether its upload was accepted. --min-rate also holds for reading. S is at least \
        0.1. A connection may be closed later, by up to an eighth of S.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.receiving.responseTime = try timeLimit(argument, for: "--response-time")
    },
    Flag(
      long: "connections", value: Value(placeholder: "N"), group: .receiving, verbs: [.receive],
      summary: "Serve at most N clients at once (default: 256); further ones wait",
      detail: """
        If a client waits, one connection is closed: the one that has been idle for longest; if none is idle, the one whose \
        client has been reading its response for longest; otherwise the slowest upload below --min-rate. If few files can be \
        open at once (ulimit -n), there are fewer connections.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.receiving.connections = try connectionCount(argument, for: "--connections")
    },
    Flag(
      long: "connections-per-address", value: Value(placeholder: "N"), group: .receiving,
      verbs: [.receive],
      summary: "Serve at most N connections of one address (default: 3/4 of all)",
      detail: """
        Requests on further ones are refused with 503. Addresses of this machine have no bound by default, because a proxy may use them.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.receiving.connectionsPerAddress = try connectionCount(
        argument, for: "--connections-per-address")
    },
    Flag(
      long: "keep-paths", group: .receiving, verbs: [.receive],
      summary: "Keep the directories in file names, made safe and below DIR",
      detail: """
        Of a name with more than 32 directories, or more than 2048 bytes, the innermost directories that fit are kept.
        """
    ) { (arguments, _) in arguments.receiving.keepsPaths = true },
    Flag(
      long: "overwrite", group: .receiving, verbs: [.receive],
      summary: "Let a file replace another of the same name (default: add a number)"
    ) { (arguments, _) in arguments.receiving.overwrites = true },
    Flag(
      long: "sync", group: .receiving, verbs: [.receive],
      summary: "Respond only when files and their names are on the disk",
      detail: """
        Then a power failure does not lose what was accepted. Small uploads take much longer. Needs --into.
        """
    ) { (arguments, _) in arguments.receiving.synchronizes = true },
    Flag(
      long: "no-resumable", group: .receiving, verbs: [.receive],
      summary: "Let no upload go on after its connection broke",
      detail: """
        Without the flag, and with --into, a client that can do so goes on with an upload of 1 MiB or more. What has \
        arrived is in DIR/.formstream-uploads until the upload is complete.
        """
    ) { (arguments, _) in arguments.receiving.isResumable = false },
    Flag(
      long: "max-store", value: Value(placeholder: "N"), group: .receiving, verbs: [.receive],
      summary: "Keep at most N bytes of uploads that are not complete",
      detail: """
        N may end in K, M, G or T. The announced length of an upload counts from its beginning. If no request \
        uses the upload for a minute, only what has arrived counts. Without room, an upload is not resumable. Needs --into.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let size = Int64(size: argument.shown), size > 0 else {
        throw .usage(
          "\(argument.named("--max-store")) is not a size: write a number of bytes, with or without K, M, G or T at the "
            + "end, such as 100G.")
      }
      arguments.receiving.maximumStore = size
    },
    Flag(
      long: "upload-age", value: Value(placeholder: "S"), group: .receiving, verbs: [.receive],
      summary: "Remove uploads that didn't go on for S seconds (default: 86400, a day)",
      detail: """
        The response to a complete upload is kept as long, for a client that didn't get it. The least is 1. Needs --into.
        """
    ) { (arguments, argument) throws(Failure) in
      let age = try argument.seconds(for: "--upload-age")
      guard age >= .seconds(1) else {
        throw .usage("\(argument.named("--upload-age")) is too short: the least is 1 second.")
      }
      arguments.receiving.uploadAge = age
    },
    Flag(
      long: "no-digest", group: .receiving, verbs: [.receive],
      summary: "Compute no SHA-256 of what is received, for speed",
      detail: "A digest that a client announces is compared nevertheless."
    ) { (arguments, _) in arguments.receiving.makesDigests = false },
    Flag(
      long: "answer", value: Value(placeholder: "STATUS"), group: .receiving, verbs: [.receive],
      summary: "Respond with STATUS to each upload that has arrived, to test a client",
      detail: """
        From 200 to 599. The record says what has arrived, and is the body of the response, except with 204, 205 and 304, \
        which have none. With 400 and above, the upload counts as refused: nothing of it is kept, and --once does not end. \
        What is refused for another reason gets its own status.
        """
    ) { (arguments, argument) throws(Failure) in
      guard argument.shown.isASCIIDigits, let status = Int(argument.shown),
        (200...599).contains(status)
      else {
        throw .usage(
          "\(argument.named("--answer")) is not the status of a response: write a number from 200 to 599."
        )
      }
      arguments.receiving.response.status = status
    },
    Flag(
      long: "delay", value: Value(placeholder: "S"), group: .receiving, verbs: [.receive],
      summary: "Wait S seconds before the response to each upload, to test a client",
      detail: """
        A fraction may follow a dot. Files have their names before that, unless --answer refuses the upload. When the \
        receiver ends, it does not wait any longer.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.receiving.response.delay = try argument.seconds(for: "--delay")
    },
  ]
}

private func timeLimit(_ argument: Argument, for flag: String) throws(Failure) -> Duration {
  let time = try argument.seconds(for: flag)
  // With a shorter limit, the time that the receiver and the network need would count more than the client's time.
  guard time >= .milliseconds(100) else {
    throw .usage("\(argument.named(flag)) is too short: the least is 0.1 seconds.")
  }
  return time
}

private func connectionCount(_ argument: Argument, for flag: String) throws(Failure) -> Int {
  guard let count = Int(argument.shown), argument.shown.isASCIIDigits, count > 0, count <= 100_000
  else {
    throw .usage("\(argument.named(flag)) is not a number from 1 to 100000.")
  }
  return count
}
