import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamHTTP

/// Runs `post` and `put`.
func post(_ plan: PostPlan) throws(Failure) {
  let series = plan.series
  if !series.isQuiet {
    for note in series.notes { StandardError.note(note) }
    warn(of: plan.items.first?.sniffer)
  }
  switch plan.product {
  case .response:
    plan.items.first?.body.noteDisk()
    try SeriesRun.perform(plan.items, of: series, storedIn: \.responseTarget?.path) {
      (item, run) throws(Failure) in try item.send(in: run)
    }
  case .outline:
    for item in plan.items {
      try OutputFile(.standardOutput).write(try item.outline(in: series.session))
    }
  case .curlLines(let arguments):
    for (item, arguments) in zip(plan.items, arguments) {
      let curl = try CurlLine(item, of: series, arguments)
      if !series.isQuiet {
        for difference in curl.differences { StandardError.note(difference) }
      }
      try OutputFile(.standardOutput).write(curl.line)
    }
  }
}

extension PostPlan.Item {
  /// Sends the request.
  fileprivate func send(in run: SeriesRun) throws(Failure) -> ResultReport.Ending {
    if run.plan.makesDirectories, let directory = responseTarget?.directory {
      try make(directory)
    }
    let heads = ReceivedHeads()
    let output = try run.open(responseTarget, for: request, heads)
    let display = ProgressDisplay(
      ProgressOutput(run.plan.progress, isQuiet: run.plan.isQuiet), file: body.filename,
      isForm: body.isForm)
    var request = request
    request.body = try transferBody()
    let report = ResultReport(on: request, RequestPlace(index: number), of: run.plan, subject: body.subject)
    var ending = try run.perform(request, to: output, report, heads, display)
    ending.write(
      heads, areWritten: run.plan.printing.joinsHeads(on: responseTarget), to: run.headFile,
      run.interruption)
    return ending
  }

  /// The body of the request. No file is opened yet, except to detect the type of a file that is the complete body.
  fileprivate func transferBody() throws(Failure) -> TransferBody? {
    switch body {
    case .none: return nil
    case .form(let form):
      guard let sniffer else { return .form(form.form, verify: form.verifiesBoundary) }
      return .form(form.form, detector: sniffer, verify: form.verifiesBoundary)
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
        try form.form.layout(detector: detector, verify: form.verifiesBoundary)
      }
    case .raw(let bytes):
      let type = try bytes.type(by: detector)
      return try convertingErrors { () throws(MultipartError) in try bytes.body.layout(as: type) }
    }
  }
}
