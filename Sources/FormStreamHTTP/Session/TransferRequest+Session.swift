import FormStreamMultipart

extension TransferRequest {
  /// The request as a session sends it: its durations are in bounds, and it has the session's headers, closures and
  /// rules. The requests of a download are made from a request that has them already.
  func prepared(in configuration: TransferSession.Configuration) -> TransferRequest {
    var (request, options) = (self, options.bounded)
    if !options.isOfDownload {
      for field in configuration.headers.fields where !replaces(field.name, configuration.netrc) {
        request.headers.append(field)
        if field.name.isSameHeaderName(as: "Authorization") { options.authorizationOfSession.append(field) }
      }
      options.headersForAnyOrigin = configuration.headers.filtered { !$0.isSecret }
      options.trace = both(options.trace, configuration.trace)
      options.willRetry = both(options.willRetry, configuration.willRetry)
    }
    if configuration.requiresHTTPS {
      options.redirects.unencryptedHosts = ProxyExceptions(configuration.unencryptedHosts)
    }
    request.options = options
    return request
  }

  /// Whether the request has something in place of a header of the session, or leaves it out.
  private func replaces(_ name: String, _ netrc: Netrc?) -> Bool {
    headers.contains(name) || options.omits(name)
      || name.isSameHeaderName(as: "Authorization") && ownCredentials(netrc) != nil
  }
}

/// A closure that calls two closures; nil if there is none.
private func both<Value>(
  _ first: (@Sendable (Value) -> Void)?, _ second: (@Sendable (Value) -> Void)?
) -> (@Sendable (Value) -> Void)? {
  guard let first, let second else { return first ?? second }
  return { value in
    first(value)
    second(value)
  }
}

extension HTTPHeaders {
  /// Checks the headers that a session sends with each request.
  func checkOfSession() throws(TransferError) {
    try checkOfRequest()
    let names = ["host", "range", "if-range", "idempotency-key"] + Self.ofUploads.map { $0.lowercased() }
    for field in fields {
      let name = field.name.lowercased()
      if name.hasPrefix("content-") || names.contains(name) { throw .headerOfOneRequest(field.name) }
    }
  }
}
