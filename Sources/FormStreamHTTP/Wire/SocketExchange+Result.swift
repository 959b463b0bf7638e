import FormStreamPlatform
import FormStreamWire

/// What was sent of a request, as far as that decides what follows.
struct SentRequest {
  /// Whether a connection was there, and the request's head was written for it.
  var hasBegun = false
  var hasBegunBody = false
  /// Whether a byte left.
  var hasLeft = false
  var isReused = false
  /// Whether a byte of a response arrived.
  var isAnswered = false
  var stage = AttemptStage.notSent
  /// How much of the request was handed over when the final response arrived; nil before.
  var atResponse: (isComplete: Bool, handedOver: Int64)?
  /// Why the connection failed.
  var failure: SystemError?
}

/// When the steps of an exchange ended, and where its connection led to.
struct StepTimes {
  var lookup: Duration?
  var connect: Duration?
  var ready: Duration?
  var ends: (local: TransferMetrics.Endpoint?, remote: TransferMetrics.Endpoint?)
}

extension AttemptStage {
  init(_ stage: RequestStage) {
    self =
      switch stage {
      case .notSent: .notSent
      case .partlySent: .partlySent
      case .sent: .sent
      }
  }
}

extension SocketExchange {
  private var hasRead: Bool { upload.read > upload.start }

  func result(_ error: TransferError?, isTransient: Bool) -> ExchangeResult {
    let response = collector.response
    let sentExpect = request.awaitsContinue
    tracer?.bodies(
      sent: request.announcesBody ? upload.handedOver : nil,
      received: collector.hasResponse ? collector.received : nil)
    let isComplete = sent.atResponse?.isComplete ?? (sent.stage == .sent)
    return ExchangeResult(
      facts: AttemptFacts(
        response: response.map { AttemptFacts.Response($0) }, failure: error,
        isTransient: isTransient, stage: sent.stage,
        handedOverAtResponse: isComplete ? upload.handedOver : sent.atResponse?.handedOver ?? 0,
        isResponseToCompleteRequest: sent.stage == .sent && isComplete,
        isEncrypted: false, speaksHTTP10: response?.version == "1.0",
        expectRejected: sentExpect && !hasRead && collector.status == 417,
        repetition: repetition, demandedHTTP11: nil, upload: collector.upload),
      response: response, isHeld: collector.isHeld,
      chosenTarget: collector.chosenTarget, hasBegunBody: sent.hasBegunBody,
      framing: !request.announcesBody ? .noBody : upload.total == nil ? .chunked : .contentLength,
      handedOver: upload.handedOver, start: upload.start, read: upload.read,
      sha256: sent.stage == .sent && request.computesDigest ? upload.finishDigest() : nil,
      bodyDigest: upload.digest, isServerVerified: nil,
      metrics: TransferMetrics(
        lookup: metrics.lookup, connect: metrics.connect, handshake: nil, ready: metrics.ready,
        firstByte: clock.timeToFirstByte, isConnectionReused: sent.isReused,
        remote: metrics.ends.remote, local: metrics.ends.local),
      requestCount: sent.hasBegun ? 1 : 0, trustQuestion: nil,
      unresolvedHost: unresolvedHost, mayResolveLater: mayResolveLater, hasContinued: collector.hasContinued,
      expectIgnored: sentExpect && hasRead && !collector.hasContinued && collector.status != 417)
  }

  /// Returns why there is no complete response, and whether another attempt may succeed.
  func outcome(_ failure: WireFailure?) -> (TransferError?, isTransient: Bool) {
    var error = abortReason ?? collector.failure
    var isTransient = false
    if error == nil, let failure, !collector.hasDroppedTooMuch {
      if case .hostNotFound = failure.cause { unresolvedHost = explanation.lookedUpHost(.server) }
      (error, isTransient) = explanation.error(for: failure)
    }
    if error == nil, failure == nil, collector.lacksAnnouncedBytes {
      (error, isTransient) = explanation.connectionLost("the server closed the connection", nil)
    }
    if collector.hasResponse {
      if error != nil { collector.truncate() }
      if error?.code == .cancelled { error = .cancelledDuringResponse }
    }
    if let code = error?.code, [.stalled, .responseTimedOut, .timedOut, .connectionLost].contains(code) {
      isTransient = true
    }
    return (error, isTransient)
  }

  /// How to send the request again at once, if the server has not processed it, or if it only reads; nil if it must not be sent again at
  /// once. The repetition uses a new connection, so it is the last one.
  private var repetition: ImmediateRepeat? {
    guard abortReason == nil, sent.isReused, !sent.isAnswered, collector.lastStatus == nil,
      !sent.hasBegunBody || request.body?.isReplayable == true
    else { return nil }
    // A server that has seen a byte has seen an attempt.
    if !sent.hasLeft { return .onNewConnection }
    return request.method.isSafe && !request.announcesBody ? .afterLoss : nil
  }

  var explanation: FailureExplanation {
    FailureExplanation(
      url: request.url, stage: sent.stage, handedOver: upload.handedOver, total: upload.total,
      response: collector.response, received: collector.received, proxy: nil,
      isConnected: sent.hasBegun, configuration: request.configuration,
      encryption: EncryptionFacts(
        settings: request.configuration.tls, isWithProxy: false, alert: nil, problem: nil,
        isClientCertificateRefused: false, isClientCertificateDoubtful: false))
  }
}
