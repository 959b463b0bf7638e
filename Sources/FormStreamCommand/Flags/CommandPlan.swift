/// A command and its checked arguments.
enum CommandPlan {
  case document(String)
  case encode(EncodePlan)
  case parse(ParsePlan)
  case sniff(SniffPlan)
  case post([PostPlan])
  case get(GetPlan)
  case send(SendPlan)
  case plan(ManifestPlan)
  case report(ReportPlan)
  case receive(ReceivePlan)
}

extension LowArguments {
  /// Checks the typed arguments and makes the plan.
  func plan() throws(Failure) -> CommandPlan {
    switch document {
    case .help: return .document(Document.help(for: verb))
    case .version: return .document("formstream \(version)\n")
    case .generated(let document): return .document(document.text(for: verb))
    case nil: break
    }
    let plan = try checkedPlan()
    // What is read only when the work begins.
    announceKeyboard()
    return plan
  }

  private func checkedPlan() throws(Failure) -> CommandPlan {
    // The requests of the others have outputs that only their plans know.
    if let verb, !verb.isLikeCurl { try checkOutputs() }
    switch verb {
    case .encode: return .encode(try EncodePlan(self))
    case .parse: return .parse(try ParsePlan(self))
    case .sniff: return .sniff(try SniffPlan(self))
    case .post: return .post(try postPlans(.post))
    case .put: return .post(try postPlans(.put))
    case .get: return .get(try getPlan())
    case .send: return .send(try sendPlan())
    case .plan: return .plan(try ManifestPlan(self))
    case .report: return .report(try ReportPlan(self))
    case .receive: return .receive(try ReceivePlan(self))
    case nil:
      throw .usage(
        "Name a command, such as \"formstream encode\"; \"formstream --help\" lists them.")
    }
  }
}
