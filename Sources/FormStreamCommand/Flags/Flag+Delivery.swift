import FormStreamBatch
import FormStreamHTTP

/// The flags about retries, time limits, speed and redirects.
extension Flag {
  static let deliveryFlags = [
    Flag(
      long: "retry", value: Value(placeholder: "N"), group: .delivery, verbs: Verb.requesting,
      common: [.post, .put, .get],
      summary: "Repeat a failed request up to N times if that is safe (default: 0)",
      summaries: [
        .get: "Repeat a failed request up to N times (default: 2 for files, otherwise 0)",
        .send: "Repeat a failed request up to N times if that is safe (default: 2)",
      ],
      detail: """
        It is safe if the server can't have acted on the request: the request was not sent completely, or \
        the status is 429 or 503. It is also safe with PUT, and with --idempotency-key. The wait doubles \
        each time, and is random; a server's Retry-After takes precedence unless it is 0. A body from a pipe \
        can be sent again if it was read ahead or stored (--read-ahead, --spool). The default is 0; it is 2 for send, and for a GET \
        or HEAD of get whose response goes into a file (-o, -O, -J). With --resumable and without --retry, five attempts are made, and \
        more while the server doesn't respond; --retry N makes N more, whether the server responds or not.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.request.options.retry.attempts =
        try argument.count(for: "--retry", upTo: 1000) + 1
      arguments.request.isRetryGiven = true
    },
    seconds(
      "retry-max-time", "Start no attempt later than S seconds after the first",
      of: Verb.likeCurl
    ) {
      $0.request.options.retry.timeLimit = $1
    },
    seconds(
      "retry-delay", "Wait S seconds before each retry, not a random time",
      detail: "A server's Retry-After takes precedence. 0 is a random time, as without the flag.",
      of: Verb.requesting
    ) {
      $0.request.options.retry.fixedDelay = $1
    },
    seconds(
      "max-retry-after", "Longest wait that a server may ask for with Retry-After (default: 120)",
      detail: """
        In seconds. A server that refuses a request may name a wait. If that wait is longer than S, the request is not sent \
        again, and the message says so. 0 is no limit.
        """, of: Verb.requesting
    ) { $0.request.options.retry.maximumRetryAfter = $1 ?? .seconds(365 * 86400) },
    Flag(
      long: "retry-unsafe", group: .delivery, verbs: Verb.sending,
      summary: "Let --retry also repeat a request that the server may have acted on"
    ) { (arguments, _) in arguments.request.options.retry.retriesUnsafe = true },
    Flag(
      long: "retry-all-errors", group: .delivery, verbs: Verb.requesting,
      summary: "Let --retry repeat any failure; for uploads, the same as --retry-unsafe",
      summaries: [
        .get: "Let --retry repeat any failure, also after a status such as 404"
      ],
      detail: """
        A GET or HEAD is repeated whatever the server did wrong, also after a status such as 404. Other requests are repeated \
        also if the server may have acted on them.
        """
    ) { (arguments, _) in
      arguments.request.options.retry.retriesUnsafe = true
      arguments.request.options.retry.retriesAllFailures = true
    },
    Flag(
      long: "resumable",
      value: Value(
        placeholder: "PROTOCOL", isOptional: true, completion: .choices(["http", "http-create", "tus"])),
      group: .delivery, verbs: [.post, .put, .send],
      summary: "Go on where an upload broke, if the server keeps what has arrived",
      detail: """
        Without PROTOCOL, the server is asked which one it knows. http is "Resumable Uploads for HTTP" (interop version 8 of the \
        draft): the server is offered to keep what arrives, and for one that doesn't, nothing changes. http-create is the same, \
        but creates the upload first, because some proxies drop the interim response that names it; only for servers that know the \
        protocol. tus is tus 1.0: post creates the upload at URL, and put sends the bytes of an upload that was created \
        before. After a break, the server is asked how much it has, and gets the rest. Without --retry, five \
        attempts are made, counted anew whenever the server has received more, and if a server that keeps the upload doesn't \
        respond, it is tried for five minutes. A body of unknown length can't go on.
        """
    ) { (arguments, argument) throws(Failure) in
      let pieces = arguments.request.options.resumption
      var resumption: UploadResumption
      switch argument.text {
      case "": resumption = .automatic
      case "http": resumption = .http
      case "http-create": resumption = .httpCreatedFirst
      case "tus": resumption = .tus
      default:
        throw .usage(
          "\(argument.named("--resumable")) is not a protocol for uploads: write --resumable, --resumable=http, "
            + "--resumable=http-create or --resumable=tus.")
      }
      (resumption.pieceSize, resumption.metadata) = (pieces.pieceSize, pieces.metadata)
      arguments.request.options.resumption = resumption
    },
    Flag(
      long: "resume-file", value: Value(placeholder: "FILE", completion: .path, use: .written),
      group: .delivery, verbs: [.post, .put],
      summary: "Keep in FILE what another run needs to go on with the upload",
      detail: """
        Needs --resumable. If FILE exists, the run goes on with its upload, even after the earlier run was killed: the flags must \
        be the same, and a file that has changed is an error. Only you can read FILE, and a file that others may write to is \
        refused. It is removed when there is nothing to go on with.
        """
    ) { (arguments, argument) in arguments.request.options.resumeFile = argument.path },
    Flag(
      long: "piece-size", value: Value(placeholder: "SIZE"), group: .delivery,
      verbs: [.post, .put, .send],
      summary: "Send at most SIZE bytes of an upload in each request, such as 50M",
      detail: """
        Needs --resumable. Some servers, and some proxies in front of servers, refuse longer bodies. Limits that the server \
        names are kept to without this flag. A longer body is not sent by --resumable=http, whose first request has the \
        complete body, nor to a server that names no protocol.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.request.options.resumption.pieceSize = try argument.size(for: "--piece-size")
    },
    Flag(
      long: "upload-metadata", value: Value(placeholder: "NAME=VALUE"), group: .delivery,
      verbs: [.post, .put, .send],
      summary: "Tell a tus server NAME=VALUE about the upload",
      detail: """
        Needs --resumable, and is only sent by tus: to a server that doesn't name tus, nothing is sent. filename and filetype are \
        sent anyway. The value is encoded in base64.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let split = argument.splitAtEquals(), let name = split.name.text, let value = split.value.text,
        !name.isEmpty
      else {
        throw .usage("\(argument.named("--upload-metadata")) is not NAME=VALUE: write both, in UTF-8.")
      }
      arguments.request.options.resumption.metadata[name] = value
    },
    seconds("connect-timeout", "Time limit for connecting, in seconds (default: 30)") {
      $0.request.options.timeLimits.connect = $1
    },
    seconds(
      "max-time", short: "m", "Time limit for an attempt, in seconds (default: none)",
      detail: """
        In seconds; a fraction may follow a dot. 0 is no limit. Waiting for a connection, and reading the body before it is \
        sent (--read-ahead, --spool), are parts of the attempt. Unlike in curl, each retry is an attempt of its own, and so \
        is each request that continues a download after a break or after this limit: --retry-max-time limits when the last \
        one may start, and with --retry 0 there is only one.
        """
    ) {
      $0.request.options.timeLimits.attempt = $1
    },
    seconds("stall-timeout", "Time limit without a byte sent or received, in seconds (default: 60)") {
      $0.request.options.timeLimits.stall = $1
    },
    seconds(
      "response-timeout",
      "Time limit from the end of the body to the response, in seconds (default: 300)",
      summaries: [.get: "Time limit from the request to the response, in seconds (default: 300)"]
    ) {
      $0.request.options.timeLimits.response = $1
    },
    Flag(
      long: "limit-rate", value: Value(placeholder: "RATE"), group: .delivery,
      verbs: Verb.requesting,
      summary: "Send at most RATE bytes a second (500K, 2M), or at a time of the day (09:00-18:00 2M)",
      summaries: [
        .get: "Receive at most RATE bytes a second (500K, 2M), or at a time of the day (09:00-18:00 2M)"
      ],
      detail: """
        With get, the flag limits the bytes that are received. With send, it limits all requests together: one that \
        is alone gets all of it. With a time of the day, as in '09:00-18:00 2M', the limit holds at that time, by the local \
        clock: for all requests of send, also those on their way, and for other commands if the command begins then. The flag \
        may be repeated; the lowest limit counts.
        """
    ) { (arguments, argument) throws(Failure) in
      if let period = RatePeriod(argument.shown, rate: { Int64(size: $0) }) {
        arguments.sending.ratePeriods.append(period)
        return
      }
      guard let rate = Int64(size: argument.shown), rate > 0 else {
        throw .usage(
          "\(argument.named("--limit-rate")) is not a rate: write bytes a second, with or without K, M or G at "
            + "the end, such as 500K. A time of the day may come before it, as in '09:00-18:00 2M'.")
      }
      arguments.request.options.maximumRate = rate
    },
    Flag(
      long: "location", short: "L", group: .delivery, verbs: Verb.requesting,
      summary: "Follow redirects to other servers, too",
      detail: """
        Without the flag, redirects within the same server are followed: 307 and 308, for which the complete body is sent \
        again, and 303, whose page is fetched. get follows 301 and 302 as well. Another server gets no headers of -H and no \
        credentials. A redirect from https to http is never followed. With the flag, put follows 301 and 302, too, with the same \
        request, and the response of a redirect is not printed.
        """
    ) { (arguments, _) in arguments.request.options.redirects.allowsOtherOrigins = true },
    repeating(301), repeating(302), repeating(303),
    Flag(
      long: "max-redirs", value: Value(placeholder: "N"), group: .delivery, verbs: Verb.requesting,
      summary: "Follow at most N redirects (default: 5, or 50 with -L)"
    ) { (arguments, argument) throws(Failure) in
      arguments.request.redirectLimit = try argument.count(for: "--max-redirs", upTo: 1000)
    },
    Flag(
      long: "expect",
      value: Value(
        placeholder: "WHEN", completion: .choices(ExpectMode.allCases.map(\.rawValue))),
      group: .delivery, verbs: Verb.sending,
      summary: "Ask the server before sending the body: auto, always or never",
      detail: """
        This is the header Expect: 100-continue. auto (the default) sends it if the body is larger than 1 MiB \
        or its length is not known.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.request.expectation = try argument.choice(
        for: "--expect", "time to ask", among: ExpectMode.allCases)
    },
    seconds(
      "expect100-timeout",
      "Seconds that --expect waits before the body is sent anyway (default: 1)",
      detail: "A fraction may follow a dot.", of: Verb.sending
    ) { $0.request.continueTimeout = $1 ?? .zero },
  ]

  /// `--post301`, `--post302` or `--post303`.
  private static func repeating(_ status: Int) -> Flag {
    Flag(
      long: "post\(status)", group: .delivery, verbs: Verb.likeCurl,
      summary: "After a \(status), send the same request to the new URL, as after a 307",
      detail:
        "Without the flag, \(status == 303 ? "the page that a 303 names is fetched" : "a \(status) in response to a body is an error")."
    ) { (arguments, _) in arguments.request.options.redirects.repeatingStatuses.insert(status) }
  }

  private static func seconds(
    _ long: String, short: Character? = nil, _ summary: String, summaries: [Verb: String] = [:],
    detail: String = "In seconds; a fraction may follow a dot. 0 is no limit.",
    of verbs: [Verb] = Verb.requesting,
    _ set: @escaping @Sendable (inout LowArguments, Duration?) -> Void
  ) -> Flag {
    Flag(
      long: long, short: short, value: Value(placeholder: "S"), group: .delivery, verbs: verbs,
      summary: summary, summaries: summaries, detail: detail
    ) { (arguments, argument) throws(Failure) in
      let time = try argument.seconds(for: "--\(long)")
      set(&arguments, time == .zero ? nil : time)
    }
  }
}
