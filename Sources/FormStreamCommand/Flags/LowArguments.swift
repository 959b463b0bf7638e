import FormStreamBatch

/// What was typed, flag by flag. Nothing is opened or planned yet.
struct LowArguments {
  enum RequestedDocument {
    case help
    case version
    case generated(Document)
  }

  var verb: Verb?
  var document: RequestedDocument?
  /// The words of the command line, without the flags of configuration files.
  var words: [Argument] = []
  /// The flags of configuration files.
  var configured: [Argument] = []

  var printsHeaders = false
  var output: Argument?

  /// The words that are not flags, without the command.
  var operands: [Argument] = []
  var pathLists: [PathList] = []
  var endsWithNUL = false
  var contentType: String?
  var allowsBareLF = false
  /// The limits that were typed.
  var limits: [BodyLimit: Int64] = [:]
  var directory: Argument?
  var printsJSON = false

  var readsConfigFromStandardInput = false
  var readsConfigFile = false
  /// The files that flags name.
  var files = NamedFiles()

  var form = FormArguments()
  var types = TypeArguments()
  var request = RequestArguments()
  var sending = SendingArguments()
  var downloading = DownloadArguments()
  var receiving = ReceivingArguments()
  var listing = ListingArguments()
  var manifest = ManifestArguments()
  var benching = BenchArguments()

  init() {}

  init(parsing arguments: [Argument]) throws(Failure) {
    var parser = ArgumentParser(arguments)
    // The command decides what the flags of a configuration file mean, and these flags come before the command.
    parser.verb = arguments.first { $0.place == .word(1) }.flatMap { Verb(rawValue: $0.shown) }
    var items: [ArgumentParser.Item] = []
    while let item = try parser.next() {
      if case .off(let flag) = item, flag.long == "remote-name", downloading.namesAll,
        let output = Flag.named("output", for: parser.verb)
      {
        // As in curl, `--no-remote-name` applies to one URL.
        items.append(.flag(output, Argument("-")))
        try store(.flag(output, Argument("-")), for: parser.verb)
      } else if case .off(let flag) = item {
        // Stores everything again without the flag, as if it had not been typed. Storing has no side effects.
        items.removeAll {
          if case .flag(let other, _) = $0 { other.long == flag.long } else { false }
        }
        self = LowArguments()
        for item in items { try store(item, for: parser.verb) }
      } else {
        items.append(item)
        try store(item, for: parser.verb)
      }
      parser.verb = verb ?? parser.verb
    }
    if document == nil { try checkFlags(parser.used) }
    // send looks at the clock for each request.
    if verb != .send, let rate = sending.ratePeriods.currentRate {
      request.options.maximumRate = min(request.options.maximumRate ?? rate, rate)
    }
    if request.hidesRefused, parser.unneeded.contains("--fail-with-body") {
      throw .usage(
        "-f doesn't print the response of a refused request, and --fail-with-body does: leave one out."
      )
    }
    if verb == .get, !pathLists.isEmpty || (sending.concurrency ?? 1) > 1, !printsJSON,
      parser.unneeded.contains("--fail-with-body")
    {
      throw .usage(
        "--fail-with-body prints the response of a refused request, and with -j and lists those of several would follow one another: --output-any-status stores them in the files, and --json has them in its records."
      )
    }
  }

  /// - Parameter verb: the command, if it is known by now.
  private mutating func store(_ item: ArgumentParser.Item, for verb: Verb?) throws(Failure) {
    switch item {
    // Flags of other commands are not stored. They are refused after all arguments are read.
    case .flag(let flag, let value) where verb.map(flag.isKnown) ?? true:
      try flag.store(&self, value)
      files.note(value, of: flag, for: verb)
    case .flag, .off: break
    case .word(let word): try store(word)
    }
  }

  private mutating func store(_ word: Argument) throws(Failure) {
    if let verb, verb.sends, let first = word.bytes.first, "{[\"".utf8.contains(first),
      !URLArgument.isURL(word)
    {
      throw .usage(
        "\(word.named("The URL")) looks like JSON: --json-body DATA sends it; --json alone prints a record."
      )
    }
    if let verb, let kind = verb.operand {
      guard operands.isEmpty || kind.canBeRepeated else {
        throw .usage(
          "\(word.named("A word")) is one too many: \(verb.rawValue) takes one \(kind.placeholder). Quote "
            + "it if it has spaces.")
      }
      if verb.sends, word.isDash {
        request.uploads.append(word)
      } else {
        operands.append(word)
      }
    } else if word.shown == "help" {
      document = .help
    } else if let verb {
      throw .usage(verb.refusal(of: word))
    } else if let named = Verb(rawValue: word.shown) {
      verb = named
    } else if let mark = LookAlike.first(in: word.shown), mark.kind == .space {
      throw .usage("\(word.named("The first word")) has \(mark) in it: type a space there.")
    } else if let hint = VerbAlias.hint(word.shown) {
      throw .usage("\(word.named("The first word")) is not a command: \(hint).")
    } else {
      let known = Verb.allCases.map(\.rawValue)
      throw .usage(
        "\(word.named("The first word")) is not a command; \"formstream --help\" lists the commands."
          + Suggestion.text(for: word.shown, among: known))
    }
  }

  private func checkFlags(_ used: [(flag: Flag, spelled: String)]) throws(Failure) {
    guard let verb else { return }
    for (flag, spelled) in used where !flag.isKnown(to: verb) {
      if let hint = FlagAlias.hint(spelled, for: verb) {
        throw .usage("\(spelled) is not a flag of \"\(verb.rawValue)\": \(hint)")
      }
      if verb.isLikeCurl, let short = flag.short, spelled == "-\(short)",
        let hint = CurlFlag.hint(short)
      {
        throw .usage("-\(short) is not a flag of \"\(verb.rawValue)\": \(hint)")
      }
      throw .usage(
        "\(spelled) is not a flag of \"\(verb.rawValue)\"; see \(Document.helpCommand(for: verb)).")
    }
  }
}

extension Verb {
  /// The message about a word after a command that takes only flags.
  fileprivate func refusal(of word: Argument) -> String {
    let subject = word.named("A word")
    switch self {
    case .receive:
      let text = word.shown
      let isPlace = text.contains { $0.isNumber } && !text.contains { $0.isLetter || $0 == "/" }
      let meaning =
        isPlace
        ? "--listen ADDR:PORT sets the address and port" : "--into DIR names the directory"
      return "\(subject) is not a flag, and receive takes only flags: \(meaning)."
    default:
      return
        "\(subject) is not a flag, and \(rawValue) takes only flags: -F NAME=CONTENT and --file NAME=PATH "
        + "add parts."
    }
  }
}
