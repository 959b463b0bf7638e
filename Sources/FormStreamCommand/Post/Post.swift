import FormStreamMediaTypes
import FormStreamMultipart
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
  case .response:
    do throws(Failure) {
      try send(plan)
    } catch {
      throw plan.printing.hidesFailures ? error.silenced : error
    }
  }
}

private func send(_ plan: PostPlan) throws(Failure) {
  try checkDescriptors()
  if let directory = plan.madeDirectory { try make(directory) }
  let heads = ReceivedHeads()
  let output = try plan.responseTarget.map { (target) throws(Failure) in
    try ResponseOutput(
      target, following: plan.request.options, outputsAnyStatus: plan.outputsAnyStatus,
      hidesRefused: plan.printing.hidesRefused,
      heads: plan.printing.includesHeads(on: target) ? heads : nil)
  }
  let headFile = try HeadFile(plan.printing)
  let display = ProgressDisplay(
    ProgressOutput(plan.progress, isQuiet: plan.isQuiet), file: plan.body.filename)
  var request = plan.request
  request.body = try plan.transferBody()
  let interruption = Interruption(gracePeriod: 10)
  let session = try convertingErrors { () throws(TransferError) in
    try TransferSession(plan.configuration)
  }
  let run = RequestRun(
    request: request, output: output, responseLimit: plan.responseLimit,
    report: ResultReport(
      printsRecord: plan.printsRecord, printing: plan.printing, isQuiet: plan.isQuiet,
      socket: plan.configuration.unixSocket),
    heads: heads)
  var ending = try run.perform(in: session, display, interruption)
  if !plan.hasHeadsOnSameOutput { ending.write(heads, to: headFile) }
  ending.complete(headFile)
  ending.saveCookies(of: session, to: plan.cookieJar)
  try ending.finish(interruption)
}

extension PostPlan {
  /// Whether `-D -` and the body are both written to standard output.
  fileprivate var hasHeadsOnSameOutput: Bool {
    if case .standardOutput? = responseTarget { printing.isOnStandardOutput } else { false }
  }

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
