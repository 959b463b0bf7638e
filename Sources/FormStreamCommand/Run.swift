/// Runs the command: parses the arguments, makes a plan and carries it out.
///
/// Parsing opens no files. Configuration files are read here, and their flags come before the typed ones.
public func run(_ arguments: [Argument]) -> ExitCode {
  prepareProcess()
  let arguments = arguments.enumerated().map { index, argument in
    Argument(bytes: argument.bytes, place: .word(index + 1))
  }
  do throws(Failure) {
    try checkStack()
    try checkAddressSpace()
    if arguments.isEmpty { throw overview() }
    let read = { @Sendable () throws(Failure) -> LowArguments in
      let configured = try ConfigFile.flags(namedIn: arguments)
      var typed = try LowArguments(parsing: configured + arguments)
      (typed.words, typed.configured) = (arguments, configured)
      return typed
    }
    let typed = try read()
    let plan = try CommandPlan(typed)
    if typed.document == nil { try checkAddressSpace(for: plan) }
    switch plan {
    case .document(let text): try OutputFile(.standardOutput).write(text)
    case .encode(let plan): try encode(plan)
    case .parse(let plan): try parse(plan)
    case .post(let plan): try post(plan)
    case .get(let plan): try get(plan)
    case .send(let plan): try send(plan, ChangedLimits(typed, read))
    case .plan(let plan): try makeManifest(plan)
    case .report(let plan): try report(plan)
    case .receive(let plan): try receive(plan)
    case .sniff(let plan): try sniff(plan)
    case .bench(let plan): try bench(plan)
    }
    return .ok
  } catch {
    if !error.message.isEmpty { StandardError.note(error.message) }
    return error.exit
  }
}

/// Prints the overview if there are no arguments. The overview goes to standard error, because the user did not ask for
/// it.
private func overview() -> Failure {
  for line in Document.help(for: nil).split(separator: "\n", omittingEmptySubsequences: false)
    .dropLast()
  {
    StandardError.write(String(line))
  }
  return Failure(.usage, "")
}

/// Fails if there is no room for what each command needs: the parsed flags, and the plan.
private func checkAddressSpace() throws(Failure) {
  guard hasAddressSpace(of: 4 << 20) else {
    throw Failure(
      .inputOutput, "The limit for memory leaves no room for this program: allow 64 MiB more with ulimit -v.")
  }
}

/// Fails if the stack is too small for the work that follows: without room on the stack, a program crashes.
private func checkStack() throws(Failure) {
  let needed: UInt = 512
  guard hasStack(of: needed * 1024) else {
    throw Failure(
      .inputOutput,
      "The limit for the stack is too small for this program: allow \(needed) KiB or more with ulimit -s."
    )
  }
}
