import FormStreamMultipart

/// The flags of those who receive.
extension Flag {
  static let receivingFlags = [
    Flag(
      long: "listen", value: Value(placeholder: "ADDR:PORT"), group: .receiving, verbs: [.receive],
      summary: "Where to listen; 127.0.0.1:8080 otherwise",
      detail: """
        The address is numeric, or localhost; IPv6 stands in brackets. A port alone is one of 127.0.0.1, \
        :PORT is that of all addresses, and port 0 is any that is free.
        """
    ) { (typed, argument) in typed.receiving.listen = argument },
    Flag(
      long: "once", group: .receiving, verbs: [.receive],
      summary: "End when one upload was taken; those that are refused don't count",
      detail:
        "Uploads that are under way by then are finished, too, within 10 seconds; no others are let in."
    ) { (typed, _) in typed.receiving.isOnce = true },
    Flag(
      long: "tls-cert", value: Value(placeholder: "FILE", completion: .path), group: .receiving,
      verbs: [.receive],
      summary: "Speak TLS with this certificate (PEM, and its chain); needs --tls-key"
    ) { (typed, argument) in typed.receiving.certificate = argument },
    Flag(
      long: "tls-key", value: Value(placeholder: "FILE", completion: .path), group: .receiving,
      verbs: [.receive],
      summary: "The certificate's private key (PEM, without a password)"
    ) { (typed, argument) in typed.receiving.key = argument },
    Flag(
      long: "max-body", value: Value(placeholder: "N"), group: .receiving, verbs: [.receive],
      summary: "Refuse bodies of more bytes; K, M, G or T may follow",
      detail:
        "The same as --limit body=N. A body that says its length is refused before it is sent."
    ) { (typed, argument) throws(Failure) in
      guard let size = Int64(size: argument.shown) else {
        throw .usage(
          "--max-body can't be \"\(argument.shown)\": write a number up to \(Int64.max), with or without K, M, G "
            + "or T behind it.")
      }
      typed.limits.totalBytes = size
    },
    Flag(
      long: "min-rate", value: Value(placeholder: "N"), group: .receiving, verbs: [.receive],
      summary: "Cut off who sends fewer bytes a second over a minute (100 otherwise)",
      detail: """
        A client may be silent for a while where it makes up for it within the minute, but not for all of it, \
        whatever N is. K or M may follow.
        """
    ) { (typed, argument) throws(Failure) in
      guard let rate = Int64(size: argument.shown), let rate = Int(exactly: rate) else {
        throw .usage(
          "--min-rate can't be \"\(argument.shown)\": write a number of bytes, such as 10K.")
      }
      typed.receiving.minimumRate = rate
    },
    Flag(
      long: "keep-paths", group: .receiving, verbs: [.receive],
      summary: "Keep directories in file names, made safe; all stay below DIR"
    ) { (typed, _) in typed.receiving.keepsPaths = true },
    Flag(
      long: "overwrite", group: .receiving, verbs: [.receive],
      summary: "Let a file replace another of its name; it gets a number otherwise"
    ) { (typed, _) in typed.receiving.overwrites = true },
    Flag(
      long: "no-digest", group: .receiving, verbs: [.receive],
      summary: "Make no SHA-256 of what comes, for speed"
    ) { (typed, _) in typed.receiving.makesDigests = false },
  ]
}

/// What was typed of who may upload what.
struct TypedReceiving {
  var listen = Argument("127.0.0.1:8080")
  var isOnce = false
  var certificate: Argument?
  var key: Argument?
  var minimumRate: Int?
  var keepsPaths = false
  var overwrites = false
  var makesDigests = true
}
