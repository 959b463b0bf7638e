import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamRecords
import FormStreamTransfer

/// Carries out `post` and `put`: what the answer goes to is opened first, so that nothing is sent in vain.
func post(_ plan: PostPlan) throws(Failure) {
  if !plan.isQuiet {
    for note in plan.notes { StandardError.write("formstream: \(note)") }
    warn(of: plan.sniffer)
  }
  switch plan.product {
  case .skeleton: try OutputFile(.standardOutput).write(try plan.skeleton())
  case .curlLine: try OutputFile(.standardOutput).write(try plan.curlLine())
  case .answer: try send(plan)
  }
}

private func send(_ plan: PostPlan) throws(Failure) {
  guard canOpenEnough() else {
    throw Failure(
      .inputOutput,
      "Too few files can be open at once to send anything: allow 32 or more with ulimit -n.")
  }
  let answer = try plan.target.map { (target) throws(Failure) in
    try AnswerOutput(
      target, wantsSeeOther: plan.request.options.acceptedStatuses?.contains(303) ?? false)
  }
  let display = ProgressDisplay(
    ProgressOutput(plan.progress, isQuiet: plan.isQuiet), file: plan.typed.uploadedFile)
  let sharesTerminal = answer?.isForTerminal ?? false
  var request = plan.request
  request.body = try plan.transferBody()
  request.options.responseTarget =
    if let answer {
      .stream { bytes in
        if sharesTerminal { display.yieldTerminal() }
        try answer.take(bytes)
      }
    } else {
      .memory(limit: plan.typed.request.answerLimit ?? 1024 * 1024)
    }

  let interruption = Interruption()
  tellSignals(grace: 10) { interruption.signal($0) }
  let session = try transferring { () throws(TransferError) in
    try TransferSession(plan.configuration)
  }
  let task = session.start(request)
  interruption.calls(off: task)
  let result = try waiting { () async throws(Failure) in
    async let told: Void = display.follow(task.progress)
    let result = await task.result
    await told
    return result
  }
  display.finish(task.progress.current)

  let socket = plan.configuration.unixSocket
  let failure = Failure(result, signal: interruption.number, socket: socket)
  var storing: Failure?
  do throws(Failure) {
    if let note = try answer?.finish(result), !plan.isQuiet {
      StandardError.write("formstream: \(note)")
    }
  } catch {
    storing = error
  }
  // A mistake on the command line is no story of a request.
  if plan.printsRecord, failure?.exit != .usage {
    let record = ResultRecord(
      result, keepsBody: answer == nil, storing: storing, socket: socket)
    try OutputFile(.standardOutput).write(record.json.line())
  }
  if let failure = failure ?? storing { throw failure }
}

/// A person who wants no more of it.
private final class Interruption: Sendable {
  private struct State {
    var number: Int32?
    var task: TransferTask?
  }

  private let state = Guarded(State())

  /// The signal that came.
  var number: Int32? { state.withLock(\.number) }

  func signal(_ number: Int32) {
    let task = state.withLock { state in
      state.number = number
      return state.task
    }
    task?.cancel()
  }

  func calls(off task: TransferTask) {
    let hasCome = state.withLock { state in
      state.task = task
      return state.number != nil
    }
    if hasCome { task.cancel() }
  }
}

extension PostPlan {
  /// The body as a transfer takes it. No file is opened, but to tell the type of one that is sent as it is.
  fileprivate func transferBody() throws(Failure) -> TransferBody? {
    switch body {
    case .none: return nil
    case .form(let form):
      guard let sniffer else { return .form(form.form, verify: verifiesBoundary) }
      return .form(form.form, guessing: sniffer, verify: verifiesBoundary)
    case .raw(let bytes):
      // What can't be looked at is told of when it is to be sent.
      let type = try? bytes.type(by: sparingGuesser)
      return .part(bytes.body, type: type ?? .octetStream)
    }
  }

  private var sparingGuesser: any MediaTypeGuessing {
    guard let sniffer, !request.headers.contains("Content-Type") else { return NoGuess() }
    return SparingGuesser(sniffer: sniffer)
  }

  /// The body, laid out to be looked at.
  func layout() throws(Failure) -> BodyLayout? {
    switch body {
    case .none: return nil
    case .form(let form):
      return try explaining { () throws(MultipartError) in
        try form.form.layout(guessing: sparingGuesser, verify: verifiesBoundary)
      }
    case .raw(let bytes):
      let type = try bytes.type(by: sparingGuesser)
      return try explaining { () throws(MultipartError) in try bytes.body.layout(as: type) }
    }
  }
}
