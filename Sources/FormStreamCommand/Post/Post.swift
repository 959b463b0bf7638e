import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamHTTP

/// Runs `post` and `put`: one request after another, over the same connections. A failure ends none of the others.
func post(_ plans: [PostPlan]) throws(Failure) {
  guard let first = plans.first else { return }
  if !first.isQuiet {
    for note in first.notes { StandardError.note(note) }
    warn(of: first.sniffer)
  }
  if case .response = first.product {
    do throws(Failure) {
      return try send(plans, like: first)
    } catch {
      throw first.printing.hidesFailures ? error.silenced : error
    }
  }
  for plan in plans {
    switch plan.product {
    case .response: break
    case .outline: try OutputFile(.standardOutput).write(try plan.outline())
    case .curlLine(let arguments):
      let curl = try CurlLine(plan, arguments)
      if !plan.isQuiet {
        for difference in curl.differences { StandardError.note(difference) }
      }
      try OutputFile(.standardOutput).write(curl.line)
    }
  }
}

private func send(_ plans: [PostPlan], like first: PostPlan) throws(Failure) {
  try checkDescriptors()
  let headFile = try HeadFile(first.printing)
  try checkCookieFile(first.cookieJar)
  let interruption = Interruption(gracePeriod: 10)
  let session = try startSession(first.configuration, interruption)
  var series = RequestSeries(count: plans.count, first.printing)
  for plan in plans where interruption.signal == nil {
    series.add(storedIn: plan.responseTarget?.path) { () throws(Failure) in
      try plan.send(headFile, in: session, interruption)
    }
  }
  var ending = series.ending
  ending.complete(headFile)
  ending.saveCookies(of: session, to: first.cookieJar, interruption)
  try ending.finish(interruption)
}

extension PostPlan {
  /// Sends the request. The file for the response is opened first: if that fails, nothing is sent.
  ///
  /// - Parameter headFile: the file of `-D`.
  fileprivate func send(
    _ headFile: HeadFile?, in session: TransferSession, _ interruption: Interruption
  ) throws(Failure) -> ResultReport.Ending {
    if let madeDirectory { try make(madeDirectory) }
    let heads = ReceivedHeads()
    let (options, printing, outputsAnyStatus) = (self.request.options, printing, outputsAnyStatus)
    let output = try responseTarget.map { (target) throws(Failure) in
      try interruption.performBlocking(orElse: target.unread) { () throws(Failure) in
        try ResponseOutput(
          target, following: options, outputsAnyStatus: outputsAnyStatus,
          hidesRefused: printing.hidesRefused, hidesBody: printing.hidesBodies,
          heads: printing.includesHeads(on: target) ? heads : nil)
      }
    }
    let display = ProgressDisplay(
      ProgressOutput(progress, isQuiet: isQuiet), file: body.filename, isForm: body.isForm)
    var request = request
    request.body = try transferBody()
    let run = RequestRun(
      request: request, output: output, responseLimit: responseLimit,
      report: ResultReport(
        printsRecord: printsRecord, printing: printing, isQuiet: isQuiet,
        socket: configuration.unixSocket, showsSetCookie: request.options.tracesSetCookie,
        subject: body.subject, number: number, referer: request.headers["Referer"]),
      heads: heads)
    var ending = try run.perform(in: session, display, interruption)
    ending.write(
      heads, areWritten: printing.joinsHeads(on: responseTarget), to: headFile, interruption)
    return ending
  }
}

extension PostPlan {
  /// The body of the request. No file is opened yet, except to detect the type of a file that is the complete body.
  fileprivate func transferBody() throws(Failure) -> TransferBody? {
    switch body {
    case .none: return nil
    case .form(let form):
      guard let sniffer else { return .form(form.form, verify: verifiesBoundary) }
      return .form(form.form, detector: sniffer, verify: verifiesBoundary)
    case .raw(let bytes):
      // A file that can't be read is reported when it is sent.
      let type = try? bytes.type(by: detector)
      return .part(bytes.body, type: type ?? .octetStream)
    }
  }

  private var detector: any MediaTypeDetector {
    guard let sniffer, !request.headers.contains("Content-Type"),
      !request.options.omits("Content-Type")
    else { return NoDetection() }
    return NonconsumingDetector(sniffer: sniffer)
  }

  /// The layout of a body that is printed instead of sent.
  func layout() throws(Failure) -> BodyLayout? {
    switch body {
    case .none: return nil
    case .form(let form):
      return try convertingErrors { () throws(MultipartError) in
        try form.form.layout(detector: detector, verify: verifiesBoundary)
      }
    case .raw(let bytes):
      let type = try bytes.type(by: detector)
      return try convertingErrors { () throws(MultipartError) in try bytes.body.layout(as: type) }
    }
  }
}
