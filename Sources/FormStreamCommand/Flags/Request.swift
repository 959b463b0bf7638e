/// What the command line asks for, all told.
enum Request {
  case document(String)
  case encode(EncodePlan)
  case parse(ParsePlan)
  case sniff(SniffPlan)
}

extension LowArguments {
  /// What was meant by what was typed.
  func request() throws(Failure) -> Request {
    switch document {
    case .help: return .document(Document.help(for: verb))
    case .version: return .document("formstream \(version)\n")
    case .generated(let document): return .document(document.text)
    case nil: break
    }
    switch verb {
    case .encode: return .encode(try encodePlan())
    case .parse: return .parse(try parsePlan())
    case .sniff: return .sniff(try sniffPlan())
    case nil:
      throw .usage(
        "Name a command, such as \"formstream encode\"; \"formstream --help\" shows them.")
    }
  }
}
