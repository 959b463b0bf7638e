import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamRecords
import FormStreamTransfer

/// Runs `post` and `put`. The file for the response is opened first: if that fails, nothing is sent.
func post(_ plan: PostPlan) throws(Failure) {
  if !plan.isQuiet {
    for note in plan.notes { StandardError.note(note) }
    warn(of: plan.sniffer)
  }
  switch plan.product {
  case .outline: try OutputFile(.standardOutput).write(try plan.outline())
  case .curlLine(let arguments):
    let curl = try CurlLine(plan, arguments)
    if !plan.isQuiet {
      for difference in curl.differences { StandardError.note(difference) }
    }
    try OutputFile(.standardOutput).write(curl.line)
  case .response: try send(plan)
  }
}

private func send(_ plan: PostPlan) throws(Failure) {
  guard canOpenDescriptors() else {
    throw Failure(
      .inputOutput,
      "Too few files can be open at once to send anything: allow 32 or more with ulimit -n.")
  }
  let output = try plan.responseTarget.map { (target) throws(Failure) in
    try ResponseOutput(
      target, following: plan.request.options, outputsAnyStatus: plan.outputsAnyStatus)
  }
  let display = ProgressDisplay(
    ProgressOutput(plan.progress, isQuiet: plan.isQuiet), file: plan.body.filename)
  let sharesTerminal = output?.isTerminal ?? false
  var request = plan.request
  request.body = try plan.transferBody()
  request.options.responseTarget =
    if let output {
      .stream(includingRefused: output.includesRefused) { bytes in
        if sharesTerminal { display.yieldTerminal() }
        try output.write(bytes)
      }
    } else {
      .memory(limit: plan.responseLimit)
    }

  let interruption = Interruption(gracePeriod: 10)
  let session = try convertingErrors { () throws(TransferError) in
    try TransferSession(plan.configuration)
  }
  let task = session.start(request)
  interruption.onSignal { _ in task.cancel() }
  let result = try runBlocking { () async throws(Failure) in
    async let displayed: Void = display.follow(task.progress)
    let result = await task.result
    await displayed
    return result
  }
  display.finish(task.progress.current)
  var failure = report(result, of: plan, output: output, interruption)
  do throws(Failure) {
    try saveCookies(of: session, to: plan.cookieJar)
  } catch {
    // The exit code is the request's if it failed.
    failure = Failure(
      failure?.exit ?? error.exit, "\(error.message) \(failure?.message ?? result.verdict)")
  }
  // Whatever became of the request: a shell ends its loop only if the signal ends this process.
  if let signal = interruption.end() {
    let exit = ExitCode(signal: signal)
    failure = Failure(exit, failure?.message ?? "\(exit.meaning). \(result.verdict)")
  }
  if let failure { throw failure }
}

/// Completes the output and prints the record.
///
/// - Returns: what failed: the request, the output, or both. The exit code is the request's if it failed.
private func report(
  _ result: TransferResult, of plan: PostPlan, output: ResponseOutput?,
  _ interruption: Interruption
) -> Failure? {
  let socket = plan.configuration.unixSocket
  let failure = Failure(result, socket: socket)
  var outputFailure: Failure?
  let held = result.response.flatMap { output?.holds($0) == true ? $0 : nil }
  do throws(Failure) {
    if let held, !plan.printsRecord {
      try interruption.performBlocking { () throws(Failure) in try print(held) }
    }
    if let note = try output?.finish(result), !plan.isQuiet { StandardError.note(note) }
  } catch {
    outputFailure = error
  }
  // A usage error has no record: nothing was sent.
  if plan.printsRecord, failure?.exit != .usage {
    let record = ResultRecord(
      result, includesBody: output == nil || held != nil, storageFailure: outputFailure,
      socket: socket)
    do throws(Failure) {
      try interruption.performBlocking { () throws(Failure) in
        try OutputFile(.standardOutput).write(record.json.line())
      }
    } catch {
      outputFailure = outputFailure ?? error
    }
  }
  guard let outputFailure else { return failure }
  // The library reports a failed output as the request's error if nothing else is wrong.
  if result.error?.underlying is Failure { return failure }
  return Failure(
    failure?.exit ?? .inputOutput,
    "\(outputFailure.message) \(failure?.message ?? result.verdict)")
}

/// Prints a response that doesn't become the file of `-o`.
private func print(_ response: TransferResponse) throws(Failure) {
  let output = try ResponseOutput(
    .standardOutput, following: TransferOptions(), outputsAnyStatus: true)
  var failure: Failure?
  Array(response.body).withUnsafeBytes { bytes in
    do throws(Failure) { try output.write(bytes) } catch { failure = error }
  }
  if let failure { throw failure }
  try output.finish()
}

extension PostPlan {
  /// The body of the request. No file is opened yet, except to detect the type of a file that is the complete body.
  fileprivate func transferBody() throws(Failure) -> TransferBody? {
    switch body {
    case .none: return nil
    case .form(let form):
      guard let sniffer else { return .form(form.form, verify: verifiesBoundary) }
      return .form(form.form, guessing: sniffer, verify: verifiesBoundary)
    case .raw(let bytes):
      // A file that can't be read is reported when it is sent.
      let type = try? bytes.type(by: guesser)
      return .part(bytes.body, type: type ?? .octetStream)
    }
  }

  private var guesser: any MediaTypeGuessing {
    guard let sniffer, !request.headers.contains("Content-Type") else { return NoGuess() }
    return NonconsumingGuesser(sniffer: sniffer)
  }

  /// The layout of a body that is printed instead of sent.
  func layout() throws(Failure) -> BodyLayout? {
    switch body {
    case .none: return nil
    case .form(let form):
      return try convertingErrors { () throws(MultipartError) in
        try form.form.layout(guessing: guesser, verify: verifiesBoundary)
      }
    case .raw(let bytes):
      let type = try bytes.type(by: guesser)
      return try convertingErrors { () throws(MultipartError) in try bytes.body.layout(as: type) }
    }
  }
}
