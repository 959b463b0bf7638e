/// Runs the command: what was typed, what it means, what comes of it.
///
/// Parsing opens nothing; a configuration file is opened here, and its flags stand before those that
/// were typed.
public func run(_ arguments: [Argument]) -> ExitCode {
  prepareProcess()
  do throws(Failure) {
    let typed = try LowArguments(parsing: try ConfigFile.flags(namedIn: arguments) + arguments)
    switch try typed.meaning() {
    case .document(let text): try writeDocument(text)
    case .encode(let plan): try encode(plan)
    case .parse(let plan): try parse(plan)
    case .post(let plan): try post(plan)
    case .receive(let plan): try receive(plan)
    case .demo: try demo()
    case .sniff(let plan): try waiting { () async throws(Failure) in try await sniff(plan) }
    }
    return .ok
  } catch {
    if !error.message.isEmpty { StandardError.write("formstream: \(error.message)") }
    return error.exit
  }
}

private func writeDocument(_ text: String) throws(Failure) {
  try OutputFile(.standardOutput).write(text)
}
