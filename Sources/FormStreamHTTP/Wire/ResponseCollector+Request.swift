import FormStreamPlatform

/// Connects a collector with the request whose response it collects.
extension ResponseCollector {
  convenience init(_ request: WireRequest, _ tracer: Tracer?) {
    self.init(
      url: request.url, options: request.attempt.request.sharedOptions, isToHEAD: request.method == .head,
      isOfResource: request.method == .get || request.options.refusesUnaskedRange,
      isPage: request.attempt.isPage,
      mayResume: request.mayResume, createsUpload: request.attempt.step == .creation, noteUpload: { request.noteUpload?($0) },
      isFinal: { !request.isVersionRefused(by: $0.status, $0.headers) && request.isFinal($0) },
      traceHead: tracer.map { tracer in { tracer.responseHead($0) } })
  }

  /// Sets what the collector calls.
  ///
  /// - Parameters:
  ///   - exchange: the exchange that the engine tells about the response's target.
  ///   - bytesRead: returns how many bytes of the request's body were read.
  func prepare(
    for request: WireRequest, on engine: Engine, _ exchange: ObjectIdentifier, bytesRead: @escaping () -> Int64
  ) {
    let session = request.session
    let notify: @Sendable () -> Void = { engine.targetMoved(exchange) }
    self.bytesRead = bytesRead
    if let jar = request.cookieJar {
      let place = request.cookiePlace
      keepCookies = { jar.keep($0, from: place) }
    }
    makeWriter = { target, decoder, head in
      guard case .reader(let response) = target.kind else {
        return ResponseWriter(target, for: head, of: session, decodedBy: decoder, on: engine.workers, notify: notify)
      }
      response.begin(head, decodedBy: decoder, notify: notify)
      return response
    }
    guard let choose = request.chooseTarget else { return }
    askForTarget = { head in
      TargetChoice(
        {
          guard let session else { return try await choose(head) }
          let wait = WaitingRequest(in: session)
          defer { wait.end() }
          return try await wait.running { try await choose(head) }
        }, notify: notify)
    }
    keepsInMemory = { [options = request.options] target, status in
      var options = options
      options.responseTarget = target
      return options.keepsInMemory(status)
    }
  }
}
