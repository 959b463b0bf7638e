/// A command and its checked arguments.
enum CommandPlan {
  case document(String)
  case encode(EncodePlan)
  case parse(ParsePlan)
  case sniff(SniffPlan)
  case post(PostPlan)
  case get(GetPlan)
  case send(SendPlan)
  case plan(ManifestPlan)
  case report(ReportPlan)
  case receive(ReceivePlan)
  case bench(BenchPlan)
}

extension CommandPlan {
  /// Checks the typed arguments and makes the plan.
  init(_ arguments: LowArguments) throws(Failure) {
    switch arguments.document {
    case .help: self = .document(Document.help(for: arguments.verb))
    case .version: self = .document("formstream \(version)\n")
    case .generated(let document): self = .document(document.text(for: arguments.verb))
    case nil:
      let files = CommandFiles(arguments)
      let input = InputReader(arguments.request, files)
      self = try CommandPlan(arguments, files, input)
      // If standard input is read only when the work begins, the note about it is printed now.
      input.announceKeyboard()
    }
  }

  private init(
    _ arguments: LowArguments, _ files: CommandFiles, _ input: InputReader
  ) throws(Failure) {
    // `post`, `put` and `get` check their files later, because only the plans of their requests know all outputs.
    if let verb = arguments.verb, !verb.isLikeCurl { try files.check() }
    switch arguments.verb {
    case .encode: self = .encode(try EncodePlan(arguments))
    case .parse: self = .parse(try ParsePlan(arguments))
    case .sniff: self = .sniff(try SniffPlan(arguments))
    case .post: self = .post(try PostPlan(.post, arguments, files, input))
    case .put: self = .post(try PostPlan(.put, arguments, files, input))
    case .get: self = .get(try GetPlan(arguments, files, input))
    case .send: self = .send(try SendPlan(arguments, input))
    case .plan: self = .plan(try ManifestPlan(arguments))
    case .report: self = .report(try ReportPlan(arguments))
    case .receive: self = .receive(try ReceivePlan(arguments, input))
    case .bench: self = .bench(try BenchPlan(arguments))
    case nil:
      throw .usage(
        "Name a command, such as \"formstream encode\"; \"formstream --help\" lists them.")
    }
  }
}
