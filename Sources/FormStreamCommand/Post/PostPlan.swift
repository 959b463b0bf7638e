import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamHTTP

/// The checked arguments of `post` and `put`.
struct PostPlan {
  /// One of the requests.
  struct Item {
    /// The number of the request in the command, from 0.
    let number: Int
    /// The request without its body.
    let request: TransferRequest
    let body: PlannedBody
    /// Nil if all types are given: opening libmagic's database takes time.
    let sniffer: MediaTypeSniffer?
    /// Where the response's body goes; nil if it goes into the record.
    let responseTarget: OutputTarget?
  }

  enum Product {
    /// The response's body, or a record of the request.
    case response
    /// An outline of what would be sent.
    case outline
    /// For each request, a curl command line that would send the same request.
    case curlLines([CurlArguments])
  }

  let items: [Item]
  let series: SeriesPlan
  let product: Product
}

extension PostPlan {
  init(
    _ verb: Verb, _ arguments: LowArguments, _ files: CommandFiles, _ input: InputReader
  ) throws(Failure) {
    let (request, form, downloading) = (arguments.request, arguments.form, arguments.downloading)
    try request.check(keepsResponse: arguments.printsJSON && arguments.output == nil)
    try StandardInputUses(arguments).check()
    var notes: [String] = []
    let targets = try [PlannedTarget](
      verb, arguments.operands, request, printsRecord: arguments.printsJSON, input, &notes)
    let urls = try [HTTPURL](targets.map(\.url), request, input)
    try Self.checkStandardInput(form, of: targets)
    let bodies = try Self.bodies(
      of: targets, verb, form, request, detectsTypes: arguments.types.areGiven, input)
    try bodies[0].checkMethod(request)
    notes += bodies[0].notes(form, request, for: verb)
    let method: HTTPMethod =
      request.asksForHead ? .head : request.putsDataIntoURL ? .get : verb == .put ? .put : .post
    var planned = try PlannedRequest(
      method, to: urls[0], with: bodies[0], request, downloading, input, &notes)
    planned.request.options = try TransferOptions(request)
    planned.fit(to: bodies[0], printsAnyStatus: arguments.printsJSON || request.outputsAnyStatus)
    try Self.checkKey(request.idempotencyKey, of: urls.count)
    if urls.count > 1, request.options.resumeFile != nil {
      throw .usage(
        "--resume-file keeps one upload, and there are \(counted(urls.count, "request", "requests")): send each with a file of its own, or use send --resumable."
      )
    }
    let outputs = downloading.outputs(for: urls.count, &notes)
    let printing = try PlannedPrinting(
      request, downloading, printsRecord: arguments.printsJSON, input)
    var responseTargets: [OutputTarget?] = []
    for (url, output) in zip(urls, outputs) {
      responseTargets.append(
        try downloading.target(output, of: url, printsRecord: arguments.printsJSON))
    }
    try files.check(
      zip(outputs, responseTargets).compactMap { NamedOutput($0?.flag ?? "-o", $1) },
      uploads: targets.compactMap(\.file?.path),
      remedy: "give each a name with -o, or name a device such as /dev/null")
    var requests: [TransferRequest] = []
    for url in urls { requests.append(planned.request(to: url, &notes)) }
    items = bodies.enumerated().map { index, body in
      Item(
        number: index, request: requests[index], body: body,
        sniffer: body.needsTypes ? MediaTypeSniffer(arguments.types) : nil,
        responseTarget: responseTargets[index])
    }
    series = SeriesPlan(
      request, downloading, in: planned.session, printing: printing,
      progress: input.usable(request.progress), notes: notes)
    product =
      if request.isDryRun {
        .outline
      } else if request.printsCurlLine {
        .curlLines(
          zip(targets, outputs).map {
            CurlArguments(
              form: form, request: request, downloading: downloading, file: $0.file, output: $1)
          })
      } else {
        .response
      }
    if let stated = try request.headers.statedLength() {
      for item in items { try item.check(stated) }
    }
  }

  /// The body for each target. If a target has no file of its own, all targets get the same body.
  private static func bodies(
    of targets: [PlannedTarget], _ verb: Verb, _ form: FormArguments, _ request: RequestArguments,
    detectsTypes: Bool, _ input: InputReader
  ) throws(Failure) -> [PlannedBody] {
    var bodies: [PlannedBody] = []
    for target in targets {
      if target.file == nil, let body = bodies.first {
        bodies.append(body)
        continue
      }
      let body = try PlannedBody(
        form, request, of: target.file, detectsTypes: detectsTypes, input)
      if case .none = body, verb == .put, !request.asksForHead, !request.putsDataIntoURL {
        throw .usage(
          "Name what to put: -T FILE for a file, or -F, -d or --json-body; -d '' puts nothing.")
      }
      bodies.append(body)
    }
    return bodies
  }

  /// Fails if standard input would be sent in several requests: it can be read once.
  private static func checkStandardInput(
    _ form: FormArguments, of targets: [PlannedTarget]
  ) throws(Failure) {
    guard targets.count > 1 else { return }
    let files = targets.filter { $0.file?.path.isDash == true }.count
    let isInBody = form.parts.flatMap(\.leaves).contains(where: \.isStandardInput)
    guard files > 1 || targets[0].file == nil && isInBody else { return }
    throw .usage(
      "Standard input can be read once, and there are \(counted(targets.count, "URL", "URLs")): store it in a file, and send that."
    )
  }

  /// Fails if several requests would have the same idempotency key.
  private static func checkKey(_ key: Argument?, of count: Int) throws(Failure) {
    guard count > 1, let key, key.text != "auto" else { return }
    throw .usage(
      "\(key.named("--idempotency-key")) is one key, and there are \(counted(count, "request", "requests")): write auto, and each gets its own."
    )
  }
}

extension PlannedRequest {
  /// Sets the options that follow from the body and the method of a request of `post` or `put`.
  ///
  /// - Parameter printsAnyStatus: whether responses of every status are printed.
  fileprivate mutating func fit(to body: PlannedBody, printsAnyStatus: Bool) {
    // If the page that a 303 names can't be fetched, the 303 is the response to the request.
    request.options.leavesOutBody =
      printsAnyStatus ? nil : request.options.isUnprintedRedirect(except: [303])
    // RFC 9110 §15.4.2 and §15.4.3: a client "MAY change the request method from POST to GET". The RFC names no other
    // method.
    if request.method == .put, request.options.redirects.allowsOtherOrigins {
      request.options.redirects.repeatingStatuses.formUnion([301, 302])
    }
    if case .raw(let bytes) = body, bytes.hasNoType, !request.headers.contains("Content-Type") {
      request.options.omittedHeaders.append("Content-Type")
    }
    allowAttempts(request.options.retry.attempts)
  }
}

extension PostPlan.Item {
  /// Fails if the length that `-H` states is not the length of the body: the announced length must be the length sent.
  fileprivate func check(_ stated: Int64) throws(Failure) {
    let layout = try layout()
    if layout == nil, stated == 0 { return }
    let remedy = "leave the header out, which is derived from the body"
    guard request.options.bodyCoding == .none, !request.options.sendsChunks else {
      throw .usage("-H states a Content-Length of a body that is sent in chunks: \(remedy).")
    }
    guard let length = layout.map(\.contentLength) ?? 0 else {
      throw .usage("-H states a Content-Length of \(stated), and it can't be checked: \(remedy).")
    }
    guard length == stated else {
      throw .usage(
        "-H states a Content-Length of \(stated), and the body has \(counted(length, "byte", "bytes")): \(remedy)."
      )
    }
  }
}

extension DownloadArguments {
  /// The `-o` or `-O` of each request. A single flag is for all requests; several flags are for one request each, in
  /// order.
  fileprivate func outputs(for count: Int, _ notes: inout [String]) -> [Output?] {
    if outputs.count == 1 { return Array(repeating: outputs[0], count: count) }
    guard outputs.count <= count else {
      notes.append(
        "-o and -O are given \(outputs.count) times, and there \(count == 1 ? "is 1 request" : "are \(count) requests"): the rest of them are not used."
      )
      return Array(outputs.prefix(count))
    }
    return outputs.map { $0 } + Array(repeating: nil, count: count - outputs.count)
  }

  /// Where a response goes; nil if it goes into the record.
  ///
  /// - Parameter output: what `-o` or `-O` names; nil if neither is for this request.
  fileprivate func target(
    _ output: Output?, of url: HTTPURL, printsRecord: Bool
  ) throws(Failure) -> OutputTarget? {
    switch output {
    case nil: return printsRecord ? nil : .standardOutput
    case .remoteName?: return .path(path(of: try SafeName.bytes(atEndOf: url)))
    case .file(let argument)?:
      switch try OutputTarget(argument) {
      case .path(let path): return .path(self.path(of: path.bytes))
      case .standardOutput:
        if printsRecord { throw Self.twiceOnStandardOutput }
        return .standardOutput
      }
    }
  }

  /// The failure if both the record and the response would be printed.
  static let twiceOnStandardOutput = Failure.usage(
    "--json and -o - both print to standard output: leave out -o, and the record holds the response."
  )
}
