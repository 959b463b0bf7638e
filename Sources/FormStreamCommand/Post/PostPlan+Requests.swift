import FormStreamMediaTypes
import FormStreamPlatform
import FormStreamMultipart
import FormStreamHTTP

extension LowArguments {
  /// The plans of the requests, in their order.
  func postPlans(_ verb: Verb) throws(Failure) -> [PostPlan] {
    try checkRequest()
    var notes: [String] = []
    let targets = try targets(verb, notes: &notes)
    // With the query, so that the record shows it too.
    let urls = try resolved(targets.map(\.url))
    try checkStandardInput(of: targets)
    var bodies: [PlannedBody] = []
    for target in targets {
      if target.upload == nil, let body = bodies.first {
        bodies.append(body)
        continue
      }
      let body = try plannedBody(with: target.upload).growing(growth)
      if case .none = body, verb == .put, !request.asksForHead, !request.putsDataIntoURL {
        throw .usage(
          "Name what to put: -T FILE for a file, or -F, -d or --json-body; -d '' puts nothing.")
      }
      bodies.append(body)
    }
    try checkMethod(bodies[0])
    notes += self.notes(on: bodies[0], for: verb)
    let method: HTTPMethod =
      request.asksForHead ? .head : request.putsDataIntoURL ? .get : verb == .put ? .put : .post
    var (planned, configuration) = try plannedRequest(method, to: urls[0], bodies[0], &notes)
    planned.options = try options()
    // If the page that a 303 names can't be fetched, the 303 is the response to the request.
    planned.options.leavesOutBody = leavesOutRedirects(except: [303])
    // RFC 9110 §15.4.2 and §15.4.3: a client "MAY change the request method from POST to GET", and no other.
    if planned.method == .put, planned.options.redirects.allowsOtherOrigins {
      planned.options.redirects.repeatingStatuses.formUnion([301, 302])
    }
    if case .raw(let bytes) = bodies[0], bytes.hasNoType, !planned.headers.contains("Content-Type")
    {
      planned.options.omittedHeaders.append("Content-Type")
    }
    // The session's own limit is for many requests; here --retry sets the limit.
    configuration.retryBudget = max(
      configuration.retryBudget, planned.options.retry.attempts - 1)
    try checkKey(of: urls.count)
    let outputs = responseOutputs(for: urls.count, &notes)
    let printing = try PlannedPrinting(self)
    let responseTargets = try responseTargets(of: urls, outputs)
    try check(responseTargets, outputs, targets)
    var requests: [TransferRequest] = []
    for url in urls { requests.append(request(like: planned, to: url, configuration, &notes)) }
    var plans: [PostPlan] = []
    for (index, body) in bodies.enumerated() {
      plans.append(
        PostPlan(
          number: index, request: requests[index], body: body, configuration: configuration,
          sniffer: body.needsTypes ? MediaTypeSniffer(self) : nil,
          verifiesBoundary: verifiesBoundary,
          product: isDryRun
            ? .outline
            : request.printsCurlLine
              ? .curlLine(
                CurlArguments(self, upload: targets[index].upload, output: outputs[index]))
              : .response,
          printsRecord: printsJSON, cookieJar: request.cookieJar?.path,
          responseTarget: responseTargets[index],
          madeDirectory: downloading.makesDirectories ? responseTargets[index]?.directory : nil,
          printing: printing, outputsAnyStatus: request.outputsAnyStatus,
          responseLimit: request.responseLimit ?? 1024 * 1024, notes: notes,
          isQuiet: request.isQuiet, progress: usableProgress))
    }
    if let stated = try request.headers.statedLength() {
      for plan in plans { try check(stated, of: plan) }
    }
    return plans
  }

  /// Fails if the length that `-H` states is not that of the body: what is announced is sent.
  private func check(_ stated: Int64, of plan: PostPlan) throws(Failure) {
    let layout = try plan.layout()
    if layout == nil, stated == 0 { return }
    let remedy = "leave the header out, which is derived from the body"
    guard plan.request.options.bodyCoding == .none, !plan.request.options.sendsChunks else {
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

  /// Fails if standard input would be sent in several requests: it can be read once.
  private func checkStandardInput(of targets: [PlannedTarget]) throws(Failure) {
    guard targets.count > 1 else { return }
    let uploads = targets.filter { $0.upload?.file.isDash == true }.count
    let isInBody = parts.flatMap(\.leaves).contains(where: \.isStandardInput)
    guard uploads > 1 || targets[0].upload == nil && isInBody else { return }
    throw .usage(
      "Standard input can be read once, and there are \(counted(targets.count, "URL", "URLs")): store it in a file, and send that."
    )
  }

  /// Fails if several requests would have one key.
  private func checkKey(of count: Int) throws(Failure) {
    guard count > 1, let key = request.idempotencyKey, key.text != "auto" else { return }
    throw .usage(
      "\(key.named("--idempotency-key")) is one key, and there are \(counted(count, "request", "requests")): write auto, and each gets its own."
    )
  }

  /// The `-o` or `-O` of each request: one of them is for all requests, and of several each is for one.
  private func responseOutputs(
    for count: Int, _ notes: inout [String]
  ) -> [DownloadArguments.Output?] {
    let outputs = downloading.outputs
    if outputs.count == 1 { return Array(repeating: outputs[0], count: count) }
    guard outputs.count <= count else {
      notes.append(
        "-o and -O are given \(outputs.count) times, and there \(count == 1 ? "is 1 request" : "are \(count) requests"): the rest of them are not used."
      )
      return Array(outputs.prefix(count))
    }
    return outputs.map { $0 } + Array(repeating: nil, count: count - outputs.count)
  }

  private func responseTargets(
    of urls: [HTTPURL], _ outputs: [DownloadArguments.Output?]
  ) throws(Failure) -> [OutputTarget?] {
    var targets: [OutputTarget?] = []
    for (url, output) in zip(urls, outputs) {
      targets.append(try responseTarget(of: url, output))
    }
    return targets
  }

  /// Fails if a file that is written is also sent, or written twice.
  private func check(
    _ responses: [OutputTarget?], _ outputs: [DownloadArguments.Output?],
    _ targets: [PlannedTarget]
  ) throws(Failure) {
    let named = zip(outputs, responses).compactMap { NamedOutput($0?.flag ?? "-o", $1) }
    try checkOutputs(
      named, uploads: targets.compactMap(\.upload?.file),
      remedy: "give each a name with -o, or name a device such as /dev/null")
  }

  /// A request like another one, to its own URL.
  func request(
    like planned: TransferRequest, to url: HTTPURL,
    _ configuration: TransferSession.Configuration, _ notes: inout [String]
  ) -> TransferRequest {
    var copy = planned
    copy.url = url
    // Those in a URL are for its own server.
    if request.credentials == nil { copy.credentials = credentials(in: url, configuration.netrc) }
    if copy.options.idempotencyKey != nil, request.idempotencyKey?.text == "auto" {
      copy.options.idempotencyKey = .random()
    }
    if let note = noteOnExposedCredentials(of: copy, configuration), !notes.contains(note) {
      notes.append(note)
    }
    return copy
  }
}
