import FormStreamMediaTypes
import FormStreamMultipart

/// What was typed, noted down flag by flag; nothing is opened or made of it yet.
struct LowArguments {
  enum DocumentAsked {
    case help
    case version
    case generated(Document)
  }

  var verb: Verb?
  var document: DocumentAsked?

  var parts: [TypedPart] = []
  var boundary: String?
  var sniffing = SniffingPolicy.auto
  var typeOverrides: [TypeOverride] = []
  var magicFile: Argument?

  var escaping: EscapingProfile?
  var browserText = false
  var verifiesBoundary = false

  var printsHeaders = false
  var isDryRun = false
  var output: Argument?

  /// The words that are no flags: what the command is done to.
  var operands: [Argument] = []
  /// Files with paths in them, and what ends each path.
  var pathLists: [PathList] = []
  var endsWithNUL = false
  var tellsCharset = false
  var contentType: String?
  var allowsBareLF = false
  var limits = FormParser.Limits()
  /// Which of them were typed.
  var givenLimits: Set<BodyLimit> = []
  var directory: Argument?
  var printsJSON = false

  var request = TypedRequest()
  var receiving = TypedReceiving()
}

extension LowArguments {
  init(parsing arguments: [Argument]) throws(Failure) {
    var parser = ArgumentParser(arguments)
    while let item = try parser.next() {
      switch item {
      case .flag(let flag, let value):
        try flag.note(&self, value)
      case .word(let word):
        try note(word)
        parser.verb = verb
      }
    }
    if document == nil { try checkFlags(parser.used) }
  }

  private mutating func note(_ word: Argument) throws(Failure) {
    if let verb, verb.sends, let first = word.bytes.first, "{[@\"".utf8.contains(first) {
      throw .usage(
        "\"\(word.shown)\" looks like JSON or a file of it, and no URL: --json-body DATA sends it; --json alone asks for a "
          + "record.")
    }
    if let verb, let kind = verb.operand {
      guard operands.isEmpty || kind.canBeRepeated else {
        throw .usage(
          "\"\(word.shown)\" is one word too many: \(verb.rawValue) takes one \(kind.placeholder). Quote "
            + "it where it has spaces.")
      }
      operands.append(word)
    } else if word.shown == "help" {
      document = .help
    } else if let verb {
      throw .usage(verb.refusal(of: word.shown))
    } else if let named = Verb(rawValue: word.shown) {
      verb = named
    } else if let hint = OtherVerb.hint(word.shown) {
      // A URL may hold a password.
      let shown = word.shown.contains("://") ? "A URL" : "\"\(word.shown)\""
      throw .usage("\(shown) is not a command: \(hint).")
    } else {
      let known = Verb.allCases.map(\.rawValue)
      throw .usage(
        "\"\(word.shown)\" is not a command; \"formstream --help\" shows those that there are."
          + Suggestion.text(for: word.shown, among: known))
    }
  }

  private func checkFlags(_ used: [(flag: Flag, spelled: String)]) throws(Failure) {
    guard let verb else { return }
    for (flag, spelled) in used where !flag.isKnown(to: verb) {
      if let hint = NearFlag.hint(spelled, for: verb) {
        throw .usage("\(spelled) is not a flag of \"\(verb.rawValue)\": \(hint)")
      }
      if verb.sends, let short = flag.short, let hint = CurlFlag.hint(short) {
        throw .usage("-\(short) is not a flag of \"\(verb.rawValue)\": \(hint)")
      }
      throw .usage(
        "\(spelled) is not a flag of \"\(verb.rawValue)\"; see \(Document.callForHelp(for: verb)).")
    }
  }
}

extension Verb {
  /// What to say of a word behind a command that takes flags only.
  fileprivate func refusal(of word: String) -> String {
    switch self {
    case .receive:
      let isPlace = word.contains { $0.isNumber } && !word.contains { $0.isLetter || $0 == "/" }
      let (flag, what) =
        isPlace
        ? ("--listen", "ADDR:PORT says where to listen") : ("--into", "DIR names the directory")
      return
        "\"\(word)\" is not a flag, and receive takes flags only: \(flag) \(what). Did you mean "
        + "\(flag) \(word)?"
    case .demo: return "\"\(word)\" is one word too many: demo takes nothing."
    default:
      return
        "\"\(word)\" is not a flag: \(rawValue) takes flags only; a part is -F NAME=CONTENT or "
        + "--file NAME=PATH."
    }
  }
}

extension LowArguments {
  /// Changes the part that was named last, for the flags that speak of it.
  mutating func changePartBefore(
    _ flag: String, _ change: (inout TypedPart) -> Void
  ) throws(Failure) {
    guard !parts.isEmpty else {
      throw .usage(
        "\(flag) is for the part before it, and there is none: put it behind -F, --field or --file."
      )
    }
    change(&parts[parts.count - 1])
  }

  mutating func setOnPartBefore<Value>(
    _ flag: String, _ property: WritableKeyPath<TypedPart, Value?>, to value: Value
  ) throws(Failure) {
    if let part = parts.last, part[keyPath: property] != nil {
      throw .usage("\(flag) is given twice for part \"\(part.name)\": give it once.")
    }
    try changePartBefore(flag) { $0[keyPath: property] = value }
  }
}
