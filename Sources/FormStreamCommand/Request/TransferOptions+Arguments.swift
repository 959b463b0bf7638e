import FormStreamHTTP
import FormStreamMultipart
import FormStreamPlatform

extension TransferOptions {
  /// Makes the options of a request. Most flags set their option at once, where they are declared (`Flag+….swift`); the options
  /// set here depend on several arguments.
  ///
  /// - Parameter hasKey: whether `--idempotency-key` names the key of the request. Otherwise the keys are chosen elsewhere.
  init(_ arguments: RequestArguments, hasKey: Bool = true) throws(Failure) {
    self = arguments.options
    omittedHeaders = try OmittedHeaders(arguments).names
    // As in curl, more redirects are followed with -L.
    if redirects.allowsOtherOrigins { redirects.limit = 50 }
    if let limit = arguments.redirectLimit { redirects.limit = limit }
    let isExpectGiven = arguments.expectation != .auto
    switch try isExpectGiven ? arguments.expectation : arguments.headers.expectation() ?? .auto {
    case .auto: expectation = .automatic
    case .always: expectation = .always
    case .never: expectation = .never
    }
    readAhead = arguments.readAhead
    sendsChunks = try arguments.headers.asksForChunks()
    requestTarget = try Self.requestTarget(arguments)
    if let timeout = arguments.continueTimeout { expectation.timeout = timeout }
    try checkResumption()
    if resumption.isChosen, !arguments.isRetryGiven {
      (retry.attempts, retry.patience) = (Self.resumptionAttempts, Self.resumptionPatience)
    }
    if hasKey, let key = arguments.idempotencyKey { idempotencyKey = try IdempotencyKey(key) }
    if resumption.isAutomatic, sendsDigest, !arguments.isQuiet { noteMissingResumption = Self.notingOnce() }
    if arguments.isVerbose {
      trace = { trace in
        for line in trace.description.split(separator: "\n") { StandardError.write(String(line)) }
      }
    }
  }

  /// How many attempts are made without progress if uploads go on where they broke.
  private static let resumptionAttempts = 5

  /// How long a server is tried that keeps an upload and doesn't respond: as long as it may take to start it again.
  private static let resumptionPatience = Duration.seconds(300)

  /// Prints the first of the notes that requests with the same options make: `send` makes many requests.
  private static func notingOnce() -> @Sendable (TransferError) -> Void {
    let isNoted = Guarded(false)
    return { error in
      let isFirst = isNoted.withLock { isNoted in
        defer { isNoted = true }
        return !isNoted
      }
      if isFirst { StandardError.note(error.message.text(naming: flagName)) }
    }
  }

  private func checkResumption() throws(Failure) {
    if resumption.isTus, sendsDigest {
      throw .usage(
        "--content-digest can't be sent by tus, which has no header for it: leave it out, or choose another protocol.")
    }
    if resumption.isHTTP, !resumption.metadata.isEmpty {
      throw .usage("--upload-metadata is only sent by tus: leave it out, or write --resumable=tus.")
    }
    guard !resumption.isChosen else { return }
    let flag =
      if resumeFile != nil {
        "--resume-file"
      } else if resumption.pieceSize != nil {
        "--piece-size"
      } else {
        resumption.metadata.isEmpty ? nil as String? : "--upload-metadata"
      }
    guard let flag else { return }
    throw .usage("\(flag) is about an upload that goes on where it broke: add --resumable.")
  }

  /// The text that replaces the URL's path and query in the request line; nil if they are not replaced.
  private static func requestTarget(_ arguments: RequestArguments) throws(Failure) -> String? {
    guard let argument = arguments.requestTarget else { return nil }
    guard let text = argument.text, !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
    else {
      throw .usage(
        "\(argument.named("--request-target")) has a blank, a # or a character beyond ASCII in it, or is empty: write it as it is sent."
      )
    }
    if let scheme = arguments.passwordScheme, scheme != .basic {
      throw .usage(
        "--request-target and \(scheme == .digest ? "--digest" : "--anyauth") exclude each other: Digest is computed from the URL."
      )
    }
    return text
  }

  /// A test for the responses of redirects that are not printed with `-L`, as in curl. Nil if all are printed.
  ///
  /// - Parameter printed: the statuses of redirects that are printed.
  func isUnprintedRedirect(
    except printed: Set<Int>
  ) -> (@Sendable (TransferResponse) -> Bool)? {
    guard redirects.allowsOtherOrigins else { return nil }
    let wanted = printed.union(acceptedStatuses ?? [])
    return { response in
      (300...399).contains(response.status) && !wanted.contains(response.status)
        && response.headers["Location"]?.isEmpty == false
    }
  }
}

extension IdempotencyKey {
  fileprivate init(_ typed: Argument) throws(Failure) {
    if typed.bytes == Array("auto".utf8) {
      self = .random()
    } else if let key = typed.text.flatMap(IdempotencyKey.init) {
      self = key
    } else {
      throw .usage(
        "\(typed.named("--idempotency-key")) is not a key: write 1 to 255 ASCII characters, or auto."
      )
    }
  }
}
