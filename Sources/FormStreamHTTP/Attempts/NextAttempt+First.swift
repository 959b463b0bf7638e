import FormStreamMultipart
import FormStreamDigest
import FormStreamPlatform

extension NextAttempt {
  /// Prepares the first attempt of a request that was checked: measures its body.
  ///
  /// - Parameters:
  ///   - url: the request's URL with its query.
  ///   - earlier: the upload that the request continues; nil if it continues none.
  nonisolated(nonsending) static func first(
    of run: TransferRun, to url: HTTPURL, continuing earlier: UploadResumeData?
  ) async throws(TransferError) -> NextAttempt {
    let (request, options) = (run.request, run.request.options)
    var headers = request.headers
    var layout: BodyLayout?
    var digest: SHA256Digest?
    if let body = try request.body?.with(earlier?.boundary) {
      let measured =
        if body.isAtHand {
          try body.laidOut()
        } else {
          try await run.prepareBody(by: .measuring) { () throws(TransferError) -> BodyLayout in
            let layout = try body.laidOut()
            if layout.hasStreams { try layout.checkEmptiness() }
            return layout
          }
        }
      let coded = try await run.readAhead(try measured.coded(as: options.bodyCoding))
      if options.sendsDigest {
        digest = try await run.prepareBody(by: .hashing) { () throws(TransferError) in
          try coded.digest()
        }
      }
      layout = options.sendsChunks ? coded.withUnknownLength() : coded
      try headers.append(
        contentTypeOf: measured, isOmitted: options.omits("Content-Type"), digest: digest)
      try headers.append(codingOf: options)
    }
    if let key = request.options.idempotencyKey {
      headers.append("Idempotency-Key", key.fieldValue)
    }
    let first = NextAttempt(run.sharedRequest, to: url, headers: headers, body: layout, digest: digest)
    if options.resumption.way == .tus, !first.mayResume { throw .uploadNeedsLength }
    if options.resumption.way == .http, first.mayResume, let piece = options.resumption.pieceSize,
      let length = layout?.contentLength, length > piece, earlier?.uploadURL == nil
    {
      throw .piecesNeedCreation(of: piece, length)
    }
    return first
  }
}

extension TransferRequest {
  /// Checks everything but the body. Returns the URL with the query.
  func checked(
    in configuration: TransferSession.Configuration
  ) throws(TransferError) -> HTTPURL {
    let url = try url.appending(query)
    try checkEncryption()
    try checkSettings()
    try ownCredentials(configuration.netrc)?.check()
    try checkCredentials(in: configuration)
    return url
  }

  /// Checks that the session allows a request to this URL.
  func checkEncryption() throws(TransferError) {
    guard options.redirects.mayReach(url.origin) else { throw .notEncrypted(url) }
  }

  private func checkSettings() throws(TransferError) {
    if let rate = options.maximumRate, rate < 1 { throw .rateTooSmall(rate) }
    if body != nil, method == .head { throw .bodyOfHEAD }
    try headers.checkOfRequest()
    if options.idempotencyKey != nil {
      try headers.checkAbsence(of: "Idempotency-Key", because: .idempotencyKey)
    }
    if options.sendsDigest, body != nil {
      try headers.checkAbsence(of: "Content-Digest", because: .contentDigest)
    }
    if options.resumption.isChosen {
      if let flaw = options.resumption.flawOfMetadata { throw flaw }
      if options.resumption.isTus, options.sendsDigest { throw .digestByTus }
      if options.resumption.isHTTP, !options.resumption.metadata.isEmpty { throw .metadataWithoutTus }
      for name in HTTPHeaders.ofUploads {
        try headers.checkAbsence(of: name, because: .resumption)
      }
    }
    try options.responseTarget.check()
    if case .resumableFile(let settings, _) = options.responseTarget.kind {
      try checkStorable(settings)
    }
  }

  private func checkCredentials(
    in configuration: TransferSession.Configuration
  ) throws(TransferError) {
    guard options.requiresEncryptionForCredentials, exposesCredentials(in: configuration) else {
      return
    }
    throw .credentialsNotEncrypted(url)
  }

  /// Whether the request carries credentials to another machine, and others on the way can read them.
  package func exposesCredentials(in configuration: TransferSession.Configuration) -> Bool {
    configuration.exposesSecrets(to: url.origin)
      && (ownCredentials(configuration.netrc).map { $0.kind != .digest } ?? false
        || headers.contains("Authorization"))
  }

  /// The credentials of the request, of its URL, or of its host in a netrc file.
  package func ownCredentials(_ netrc: Netrc?) -> Credentials? {
    if let credentials { return credentials }
    guard let own = url.credentials else { return netrc?.credentials(for: url.origin.host) }
    guard url.namesUserOnly else { return own }
    guard let netrc else { return own }
    return netrc.credentials(for: url.origin.host, login: own.user) ?? own.using(netrc.scheme)
  }
}

extension TransferSession.Configuration {
  /// Whether others on the way to an origin can read the request.
  func exposesSecrets(to origin: HTTPURL.Origin) -> Bool {
    // The URLs of tests count as they would in the network.
    guard origin.scheme == "http", unixSocket == nil else { return false }
    // A proxy on another machine gets even requests for this machine.
    let proxy = try? proxy.proxy(for: origin)
    return !isLoopback(origin.host) || proxy.map { isLoopback($0.host) } == false
  }

  /// The proxy whose credentials others can read on the way to the proxy; nil if there is no such proxy.
  package func exposedProxy(for url: HTTPURL) -> String? {
    guard usesNetwork, let proxy = try? proxy.proxy(for: url.origin),
      proxy.credentials != nil, !proxy.isEncrypted, !isLoopback(proxy.host)
    else { return nil }
    return proxy.description
  }
}

/// Whether a host's name or address stands for this machine. RFC 6761 §6.3: names that end in `.localhost` also do.
private func isLoopback(_ host: String) -> Bool {
  let name = host.hasSuffix(".") ? String(host.dropLast()) : host
  if name == "localhost" || name.hasSuffix(".localhost") || name == "[::1]" { return true }
  let numbers = name.split(separator: ".", omittingEmptySubsequences: false)
  return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { $0.isASCIIDigits }
}

extension HTTPHeaders {
  fileprivate mutating func append(
    contentTypeOf layout: BodyLayout, isOmitted: Bool, digest: SHA256Digest?
  ) throws(TransferError) {
    try checkContentType(of: layout.form)
    if !isOmitted, !contains("Content-Type") { append("Content-Type", layout.contentType) }
    if let digest {
      // RFC 9530 §2: a dictionary of byte sequences in base 64 between colons.
      append("Content-Digest", "sha-256=:\(base64(digest.bytes)):")
    }
  }

  /// Checks that the caller's `Content-Type` has the form's boundary, without which a receiver can't find the form's parts.
  private func checkContentType(of form: Form?) throws(TransferError) {
    let own = fields.filter { $0.name.isSameHeaderName(as: "Content-Type") }.map(\.value)
    guard let form, let first = own.first else { return }
    let boundary = form.boundary.description
    if own.count == 1, MediaType(first)?.isMultipart(withBoundary: boundary) == true { return }
    throw .contentType(first, lacksBoundary: boundary)
  }

  /// Throws if the caller wrote a header that a setting adds. If a header must be sent only once but has two lines, the server
  /// may read either line.
  fileprivate func checkAbsence(
    of name: String, because setting: SettingName
  ) throws(TransferError) {
    if contains(name) { throw .header(name, besideOption: setting) }
  }

  fileprivate mutating func append(codingOf options: TransferOptions) throws(TransferError) {
    guard let coding = options.bodyCoding.name else { return }
    guard !contains("Content-Encoding") else { throw .codingOfCompressedBody }
    append("Content-Encoding", coding)
  }
}

extension BodyLayout {
  /// Reads once from a body with an announced length of 0, to check that it has no bytes: libcurl doesn't read such a
  /// body.
  func checkEmptiness() throws(TransferError) {
    guard contentLength == 0 else { return }
    let reader = makeReader()
    defer { reader.close() }
    do throws(MultipartError) {
      _ = try reader.read(upTo: 1)
    } catch {
      throw TransferError(error)
    }
  }

  /// Reads the complete body once, and returns its digest.
  fileprivate func digest() throws(TransferError) -> SHA256Digest {
    guard isReplayable else { throw .digestOfOneShot(length: contentLength) }
    let reader = makeReader()
    defer { reader.close() }
    do {
      var digest = try SHA256()
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 4096)
      defer { buffer.deallocate() }
      while true {
        let count = try reader.read(into: buffer)
        if count == 0 { break }
        try digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
      return try digest.finalize()
    } catch let error as MultipartError {
      throw TransferError(error)
    } catch {
      throw .digestFailed(error)
    }
  }
}
