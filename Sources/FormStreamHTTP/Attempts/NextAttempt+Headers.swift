import FormStreamMultipart

/// The headers that the program chose for a redirect.
struct ChosenHeaders: Sendable {
  let headers: HTTPHeaders
  /// Whether the program took the credentials out of the headers, so that none are sent before the server asks for them.
  let isWithoutCredentials: Bool
}

extension HTTPHeaders {
  /// The `Authorization` lines.
  var authorization: HTTPHeaders { filtered { $0.name.isSameHeaderName(as: "Authorization") } }
}

/// Which headers an attempt sends, and what the program may change after a redirect.
extension NextAttempt {
  /// The request's headers as they are sent to the attempt's URL, before the attempt adds its own.
  var requestHeaders: HTTPHeaders {
    let sent = sendsOwnHeaders ? headers : headers.sentToAnyOrigin(of: request)
    guard let chosenHeaders else { return sent }
    return sent.filtered { isDerived($0.name) } + chosenHeaders.headers
  }

  /// All headers, except the ones that depend on the connection.
  func sentHeaders(userAgent: String) -> HTTPHeaders {
    var sent = requestHeaders
    if let authorization = authorization.header {
      sent.remove("Authorization")
      sent.append("Authorization", authorization.value, isSecret: true)
    }
    if !sent.contains("User-Agent"), !request.options.omits("User-Agent") {
      sent.append("User-Agent", bytes: Array(userAgent.utf8))
    }
    switch step {
    case .request: return mayResume ? sent.offeringUpload(of: body?.contentLength) : sent
    case .page: return sent.withoutContent
    case .options: return sent.askingForLimits
    case .creation:
      return sent.creatingUpload(
        of: body?.contentLength, by: uploadProtocol,
        metadata: Tus.metadata(of: body, request.options.resumption.metadata))
    case .offset: return sent.askingForOffset(by: uploadProtocol)
    case .append(let offset, let end):
      return sent.appending(
        from: offset, isLast: end == body?.contentLength, by: uploadProtocol,
        telling: resource?.lacksLength == true ? body?.contentLength : nil)
    }
  }

  // MARK: Redirects

  /// The headers that the program may change when it follows a redirect.
  var changeableHeaders: HTTPHeaders { requestHeaders.filtered { !isDerived($0.name) } }

  /// Whether a header follows from the body or the settings. With other values, the server would read another body, or another
  /// part of the resource.
  private func isDerived(_ name: String) -> Bool {
    let (name, options) = (name.lowercased(), request.options)
    if name.hasPrefix("content-") || name == "idempotency-key" { return true }
    if options.belongsToDownload, ["range", "if-range", "accept-encoding"].contains(name) { return true }
    return options.resumption.isChosen && HTTPHeaders.ofUploads.contains { $0.isSameHeaderName(as: name) }
  }

  /// Checks what the program chose for the redirect that was followed last.
  func check(
    _ change: RedirectChoice.Change, in configuration: TransferSession.Configuration
  ) throws(TransferError) {
    try change.headers.checkOfRequest()
    for field in change.headers.fields where isDerived(field.name) {
      throw .derivedHeaderOfRedirect(field.name)
    }
    if request.options.requiresEncryptionForCredentials, change.headers.contains("Authorization"),
      configuration.exposesSecrets(to: url.origin)
    {
      throw .credentialsNotEncrypted(url)
    }
    guard let new = change.method, new != method else { return }
    // A closure may choose a file for the response, and a HEAD would leave it empty.
    let hasOpenTarget = request.options.decisions.or(configuration.decisions).responseHead != nil
    guard mayBecome(new), new != .head || !hasOpenTarget else { throw .methodOfRedirect(method, new) }
  }

  /// Whether another method may take the place of this one. The response must still show what became of the request, and what is
  /// known about repeating the request must still hold.
  private func mayBecome(_ new: HTTPMethod) -> Bool {
    guard step == .request || isPage, !mayResume, !request.options.belongsToDownload else { return false }
    if method.isSafe { return !sendsBody && (new == .get || new == .head) }
    return !new.isSafe && (new.isIdempotent || !method.isIdempotent)
  }
}
