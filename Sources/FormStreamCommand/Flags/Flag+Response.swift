import FormStreamHTTP

/// The flags about the response and about what is printed.
extension Flag {
  static let responseFlags = [
    Flag(
      long: "expect-status", value: Value(placeholder: "N,N"), group: .output,
      verbs: Verb.likeCurl + [.send],
      summary: "Statuses that are a success, such as 200,201 (default: all 2xx)",
      summaries: [
        .get: "Statuses that are a success (default: all 2xx; for a file 200 and 203)"
      ]
    ) { (arguments, argument) throws(Failure) in
      var statuses: Set<Int> = []
      for word in argument.shown.split(separator: ",", omittingEmptySubsequences: false) {
        guard let status = Int(word), (200...599).contains(status) else {
          throw .usage(
            "\(argument.named("--expect-status")) is not a list of statuses: write those from 200 to 599, such as 200,201."
          )
        }
        statuses.insert(status)
      }
      arguments.request.options.acceptedStatuses = statuses
    },
    Flag(
      long: "output-any-status", group: .output, verbs: Verb.likeCurl,
      summary: "Write the response to the file of -o, even if its status is not a success",
      detail: """
        Without it, the file is written only if the status is a success. Otherwise an existing file stays, and \
        up to 1 MiB of the response is printed on standard output or, with --json, in the record.
        """
    ) { (arguments, _) in arguments.request.outputsAnyStatus = true },
    Flag(
      long: "compressed", group: .output, verbs: Verb.likeCurl,
      summary: "Ask for a compressed response (gzip or deflate), and decompress it",
      detail: """
        What is written is decompressed, and has at most 1 GiB, or what --max-filesize allows: a small response \
        can be a very large file. Without the flag, the server is asked for no compression. It can't be used \
        with -C or --range.
        """
    ) { (arguments, _) in
      arguments.request.options.responseCompression =
        arguments.request.options.responseCompression ?? .init()
    },
    Flag(
      long: "max-filesize", value: Value(placeholder: "SIZE"), group: .output,
      verbs: Verb.likeCurl,
      summary: "Receive no response of more than SIZE bytes, such as 10M",
      detail: """
        If the server announces a longer one, none of it is received. With --compressed, it is also the limit \
        after decompression. It does not apply to what stands in the record, which has a limit of its own.
        """
    ) { (arguments, argument) throws(Failure) in
      guard let size = Int64(size: argument.shown) else {
        throw .usage(
          "\(argument.named("--max-filesize")) is not a size: write bytes, with or without K, M, G or T at the end."
        )
      }
      arguments.request.options.maximumResponseSize = size
    },
    Flag(
      long: "max-response", value: Value(placeholder: "SIZE"), group: .output,
      verbs: Verb.likeCurl,
      summary: "How much of the response's body the record of --json holds (default: 1M)"
    ) { (arguments, argument) throws(Failure) in
      guard let size = Int64(size: argument.shown), let limit = Int(exactly: size),
        limit <= 64 << 20
      else {
        throw .usage(
          "\(argument.named("--max-response")) is not a size: write bytes up to 64M, with or without K or M "
            + "at the end. -o FILE stores a response of any size.")
      }
      arguments.request.responseLimit = limit
    },
    Flag(
      long: "sha256", group: .output, verbs: Verb.sending,
      summary: "Compute the body's SHA-256 while it is sent, for the record",
      summaries: [
        .send: "Compute the SHA-256 of each file, for its record"
      ],
      detail: "With send, it is the SHA-256 of the file, computed before it is sent."
    ) { (arguments, _) in arguments.request.options.computesDigest = true },
    Flag(
      long: "to-curl", group: .output, verbs: [.post, .put],
      summary: "Print the request as a curl command line; send nothing",
      detail: """
        The command line is for sh. It never holds secrets: it reads them from their files, and with -u curl \
        asks for the password. What curl does differently is listed on standard error; what it can't send \
        is an error.
        """
    ) { (arguments, _) in arguments.request.printsCurlLine = true },
    Flag(
      long: "progress",
      value: Value(
        placeholder: "HOW", completion: .choices(ProgressMode.allCases.map(\.rawValue))),
      group: .output, verbs: Verb.likeCurl + [.send],
      summary: "Show progress: auto, bar, json or none (default: auto)",
      detail: """
        Progress goes to standard error. auto shows a bar on a terminal, and elsewhere a line every 30 \
        seconds. bar does the same, even with -q or on a terminal that TERM does not name. json prints \
        records. Short requests show neither a bar nor a line. With NO_COLOR the bar has no color. With send, \
        the bar is a line for all files, and one for each of the next four that are being sent; if --json prints to \
        the same terminal, there is none.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.request.progress = try argument.choice(
        for: "--progress", "way to show progress", among: ProgressMode.allCases)
    },
    Flag(
      long: "quiet", short: "q", group: .output,
      verbs: Verb.likeCurl + [.send, .plan, .receive, .encode, .parse, .bench],
      summary: "Print no notes, and only the progress that was asked for",
      summaries: [
        .plan: "Print no notes and no summary",
        .encode: "Print no notes",
        .parse: "Print no notes",
        .receive: "Print no notes",
        .bench: "Don't say what is being measured",
      ],
      detail: """
        Errors are printed in any case. encode then does not print the Content-Type of the body, and parse does not print \
        the boundary that it has found.
        """
    ) { (arguments, _) in arguments.request.isQuiet = true },
    Flag(
      long: "verbose", short: "v", group: .output, verbs: Verb.likeCurl + [.send, .receive],
      summary: "Print the headers sent and received, without secrets",
      summaries: [
        .receive: "Print the headers of requests, without secrets"
      ],
      detail: """
        They go to standard error. receive prints the head of each request when it arrives, and later how many bytes \
        of the body have arrived.
        """
    ) { (arguments, _) in arguments.request.isVerbose = true },
  ]
}
