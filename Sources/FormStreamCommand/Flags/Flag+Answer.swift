import FormStreamTransfer

/// The flags that say what is a success, and what is told of a request.
extension Flag {
  private static let answerVerbs: [Verb] = [.post, .put]

  static let answerFlags = [
    Flag(
      long: "expect-status", value: Value(placeholder: "N,N"), group: .output, verbs: answerVerbs,
      summary: "Which statuses are a success, such as 200,201 (all of 2xx)"
    ) { (typed, argument) throws(Failure) in
      var statuses: Set<Int> = []
      for word in argument.shown.split(separator: ",", omittingEmptySubsequences: false) {
        guard let status = Int(word), (200...599).contains(status) else {
          throw .usage(
            "--expect-status can't be \"\(argument.shown)\": write statuses from 200 to 599, such as 200,201."
          )
        }
        statuses.insert(status)
      }
      typed.request.options.acceptedStatuses = statuses
    },
    Flag(
      long: "max-response", value: Value(placeholder: "SIZE"), group: .output, verbs: answerVerbs,
      summary: "How much of the answer's body --json keeps (1M)"
    ) { (typed, argument) throws(Failure) in
      guard let size = Int64(size: argument.shown), let limit = Int(exactly: size),
        limit <= 64 << 20
      else {
        throw .usage(
          "--max-response can't be \"\(argument.shown)\": write bytes up to 64M, with or without K or M "
            + "behind. -o FILE takes an answer of any size.")
      }
      typed.request.answerLimit = limit
    },
    Flag(
      long: "sha256", group: .output, verbs: answerVerbs,
      summary: "Hash the body as it goes out; the record has it as sha256"
    ) { (typed, _) in typed.request.options.computesDigest = true },
    Flag(
      long: "to-curl", group: .output, verbs: answerVerbs,
      summary: "Print the same as a line of curl for sh; send nothing",
      detail: """
        Secrets are never in it: it takes them from the files that hold them, and with -u curl asks for the \
        password. What curl does otherwise is told on standard error; what it can't send is an error.
        """
    ) { (typed, _) in typed.request.printsCurlLine = true },
    Flag(
      long: "progress",
      value: Value(
        placeholder: "HOW", completion: .choices(ProgressMode.allCases.map(\.rawValue))),
      group: .output, verbs: answerVerbs,
      summary: "Show progress: auto, bar, json or none",
      detail: """
        On standard error. auto (the default) is a bar on a terminal, and else a line every 30 seconds; so \
        is bar where there is no terminal. A request that is over sooner than that shows none. json \
        prints records. -q turns auto off. NO_COLOR takes the bar's colour.
        """
    ) { (typed, argument) throws(Failure) in
      typed.request.progress = try argument.choice(
        for: "--progress", "way to show progress", among: ProgressMode.allCases)
    },
    Flag(
      long: "quiet", short: "q", group: .output, verbs: answerVerbs + [.receive],
      summary: "No notes, and no progress but where --progress asks for it; errors are told"
    ) { (typed, _) in typed.request.isQuiet = true },
    Flag(
      long: "verbose", short: "v", group: .output, verbs: answerVerbs,
      summary: "Show the heads of requests and answers; secrets are masked"
    ) { (typed, _) in typed.request.isVerbose = true },
  ]
}
