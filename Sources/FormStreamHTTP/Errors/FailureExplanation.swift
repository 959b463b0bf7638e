import FormStreamMultipart
import FormStreamPlatform

/// Explains why an exchange failed, and what to do about it.
struct FailureExplanation {
  let url: HTTPURL
  let stage: AttemptStage
  /// How many bytes of the body were handed over.
  let handedOver: Int64
  /// The length of the body; nil if it can't be known.
  let total: Int64?
  /// The response; nil if its head didn't arrive completely.
  let response: TransferResponse?
  /// How many bytes of the response's body arrived.
  let received: Int64
  /// The proxy; nil if there is none.
  let proxy: Proxy?
  /// Whether there was a connection that the request could be sent over.
  let isConnected: Bool
  let configuration: TransferSession.Configuration
  let encryption: EncryptionFacts

  /// Explains a failure that libcurl reported. Also returns whether another attempt may succeed.
  func error(for failure: CurlFailure) -> (TransferError, isTransient: Bool) {
    let reason = failure.message
    if encryption.isClientCertificateRefused { return clientCertificateRefused(failure) }
    switch failure.kind {
    case .hostNotFound:
      if let unreachable = addressForSOCKS4(failure) { return unreachable }
      return permanent(
        .hostNotFound, failure,
        "could not be sent: the host \(lookedUpHost(failure).quoted) was not found. Check its name.\(socks4Note(failure))\(familyNote)"
      )
    case .proxyNotFound:
      return permanent(
        .hostNotFound, failure,
        "could not be sent: the host of the proxy \(connected) was not found. Check its name.")
    case .connect:
      if let path = configuration.unixSocket, isOtherThanSocket(path) {
        return permanent(
          .invalidSetting, failure,
          "could not be sent: \(path.description.quoted) is not a socket. Name the socket at which the server listens."
        )
      }
      if let excluded = excludedAddress(failure) { return excluded }
      return transient(
        .connectFailed, failure,
        "could not be sent: nothing is listening at \(connected)\(failure.connectReason). Check that the "
          + "\(proxy == nil ? "server" : "proxy") is running, and try again.\(familyNote)")
    case .interface:
      return permanent(
        .interfaceUnusable, failure,
        "could not be sent: this machine doesn't have the interface or address that connections are to begin at, or it "
          + "can't be used (\(SettingName.localInterface)).")
    case .proxy:
      return refusedByProxy(failure)
    case .connectTimeout:
      return transient(
        .connectTimedOut, failure,
        "could not be sent: \(connected) could not be reached in time. Try again later."
      )
    case .certificate:
      return permanent(.certificateRefused, failure, encryption.refusedCertificate(reason))
    case .publicKey:
      return permanent(
        .publicKeyMismatch, failure,
        "was not sent: the server has another public key than the one that is pinned (\(SettingName.pin)). Find out why "
          + "before you change the pin.")
    case .tls, .noCommonProtocol:
      return permanent(
        .tlsFailed, failure,
        "could not be sent: there is no encrypted connection to \(encryptedPeer)\(encryption.failure(reason, shown: failure.tlsReason))"
      )
    case .cutHandshake:
      return transient(
        .tlsFailed, failure,
        "could not be sent: \(encryptedPeer) closed the connection before it was encrypted "
          + "(\(failure.brokenReason)). Try again later.\(encryption.clientCertificateNote)"
          + (encryption.isWithProxy
            ? ""
            : " If its port is one of http, write http://\(url.origin.host):\(url.origin.port)."))
    case .authoritiesFile:
      let setting: SettingName = encryption.isWithProxy ? .proxyAuthorities : .authorities
      return permanent(
        .tlsFileUnusable, failure,
        "could not be sent: the trusted authorities can't be read. Name a PEM file of their certificates "
          + "(\(setting)).")
    case .tlsFile:
      return permanent(
        .tlsFileUnusable, failure,
        "could not be sent: a certificate or key can't be used (\(failure.tlsReason)). Name PEM "
          + "files that belong together, and the passphrase if the key has one (\(SettingName.passphrase))."
      )
    case .outOfMemory where isConnected:
      return permanent(
        .responseTooLarge, failure,
        "received a response whose head has a line that is too long, or that there was no memory for. Check the server, and "
          + "the limit for memory (ulimit -v).")
    case .outOfMemory:
      return permanent(
        .engineFailed, failure,
        "could not be sent: there is no memory left. End other programs, or raise the limit (ulimit -v)."
      )
    case .malformedHTTP2:
      return response == nil
        ? malformedHTTP2(failure) : connectionLost(failure.brokenReason, failure)
    case .malformed:
      return permanent(
        .malformedResponse, failure,
        "received a response that is not HTTP: \(failure.malformedReason). Check the server, and that the port is right."
      )
    case .send, .receive, .noResponse: return connectionLost(failure.brokenReason, failure)
    // A kept connection had ended, and libcurl was not allowed to send the request again.
    case .rewindRefused, .abortedByUs: return connectionLost("the server closed it", failure)
    case .other, .badArgument:
      guard stage == .notSent else { return connectionLost(failure.brokenReason, failure) }
      return permanent(
        .engineFailed, failure, "could not be sent: \(reason) (libcurl \(failure.number)).")
    }
  }

  /// The error of a response over HTTP/2 that libcurl refused, or of a request that the server ended with an HTTP/2 error.
  func malformedHTTP2(_ failure: CurlFailure) -> (TransferError, isTransient: Bool) {
    let reason = failure.streamError.map { "the request was ended with the HTTP/2 error \($0)" }
    return permanent(
      .malformedResponse, failure,
      "was sent, and \(reason ?? "what the server sent is not valid HTTP/2"): the response can't be read. Check the server, or "
        + "send it with HTTP/1.1 (\(SettingName.onlyHTTP11)).")
  }

  /// The error of a request that the server has certainly not carried out.
  func notSent(_ reason: String) -> TransferError {
    error(.connectionLost, nil, "was not carried out: \(reason). Try again.")
  }

  /// The error of a request that asked for HTTP/2 from a server that doesn't speak it.
  func noHTTP2(_ reason: String) -> TransferError {
    error(
      .http2Unavailable, nil,
      "was not carried out: HTTP/2 was asked for, and \(url.origin) doesn't speak it (\(reason)). Allow HTTP/1.1, "
        + "which \(url.origin.scheme == "http" ? SettingName.priorKnowledge : .version) forbids."
    )
  }

  /// The error of a request that the server ended with HTTP_1_1_REQUIRED (RFC 9113 §7).
  var http11Demanded: TransferError {
    let isForbidden = configuration.version == .http2
    let remedy: Message =
      isForbidden
      ? "Allow HTTP/1.1, which \(SettingName.version) forbids."
      : "Send it with HTTP/1.1 (\(SettingName.onlyHTTP11))."
    guard stage == .sent else {
      return error(
        .http2Unavailable, nil, "was not carried out: the server demands HTTP/1.1 for it. \(remedy)"
      )
    }
    return error(
      .http2Unavailable, nil,
      "was sent, and the server demanded HTTP/1.1 for it then, which doesn't say whether it has carried it out. \(remedy)"
    )
  }

  /// The error of a response that libcurl could not read.
  var responseLost: TransferError {
    error(
      .respondedEarly, nil,
      "was ended by the server after \(handedOver) of its \(total.map { counted($0, "byte", "bytes") } ?? "unknown number of bytes"), with a "
        + "response that could not be read. Ask the server what it received.")
  }

  /// The error of a response whose first header line looks like the continuation of another header.
  func foldedFirstHeader(_ failure: CurlFailure) -> (TransferError, isTransient: Bool) {
    permanent(
      .malformedResponse, failure,
      "received a response whose first header begins with white space, so that it is none. Check the server."
    )
  }

  /// Explains a connection that ended before the response was complete.
  func connectionLost(
    _ reason: String, _ failure: CurlFailure?
  ) -> (TransferError, isTransient: Bool) {
    if let response {
      return (
        TransferError(
          .connectionLost, on: url.description,
          "The response from \(url), of status \(response.status), ended after "
            + "\(counted(received, "byte", "bytes")) and is incomplete (\(reason)).",
          underlying: failure), true
      )
    }
    switch stage {
    case .notSent:
      let through = isConnected ? "" : proxy.map { " to the proxy \($0)" } ?? ""
      return transient(
        .connectionLost, failure,
        "was not sent: the connection\(through) broke (\(reason)). Try again.\(encryption.clientCertificateNote)"
      )
    case .partlySent:
      let total = total.map(String.init) ?? "an unknown number of"
      return transient(
        .connectionLost, failure,
        "was sent only in part, \(handedOver) of \(total) bytes: the connection broke (\(reason)). "
          // For https, the outcome is `unknown`.
          + (url.origin.scheme == "https"
            ? "What the server responded before may be lost with it."
            : "The server can't have the complete request."))
    case .sent:
      return transient(
        .connectionLost, failure,
        "was sent, and the connection broke before a response arrived (\(reason)).\(encryption.clientCertificateNote)"
      )
    }
  }

  /// The error of a handshake that the server ended because of the client's certificate. With TLS 1.3, the client may learn
  /// this only after it has sent something, but the server doesn't read what was sent.
  private func clientCertificateRefused(
    _ failure: CurlFailure
  ) -> (TransferError, isTransient: Bool) {
    if encryption.settings.withholdsCertificate {
      return permanent(
        .clientCertificateRefused, failure,
        "was not carried out: the server demands a client certificate (\(encryption.shownAlert)), and yours is not shown to a "
          + "server that a redirect led to. Send the request to that URL if that is right.")
    }
    return permanent(
      .clientCertificateRefused, failure,
      encryption.settings.certificate == nil
        ? "was not carried out: the server demands a client certificate (\(encryption.shownAlert)). Name one "
          + "(\(SettingName.clientCertificate))."
        : "was not carried out: the server refuses the client certificate (\(encryption.shownAlert)). Name one that it accepts "
          + "(\(SettingName.clientCertificate)).")
  }

  /// The error of a proxy that made no connection to the server. The proxy has then received nothing for the server.
  private func refusedByProxy(_ failure: CurlFailure) -> (TransferError, isTransient: Bool) {
    let (reason, isTransient) = failure.refusal(by: proxy)
    let remedy: Message =
      failure.areProxyCredentialsRefused
      ? "Set its user and password (\(SettingName.proxyCredentials))."
      : failure.isOtherThanSOCKS
        ? "Check its scheme and its port."
        : isTransient ? "Try again later." : "Ask its operator, or use another proxy."
    return (
      error(
        .proxyRefused, failure,
        "was not sent: the proxy \(connected) made no connection to \(url.origin) (\(reason)). \(remedy)"
      ),
      isTransient
    )
  }

  /// The proxy or the server that this client connects to.
  private var connected: String { proxy?.description ?? "\(url.origin)" }

  /// The proxy or the server that a handshake was with.
  private var encryptedPeer: String {
    encryption.isWithProxy ? "the proxy \(connected)" : "the server at \(url.origin)"
  }

  private func transient(
    _ code: TransferError.Code, _ failure: CurlFailure?, _ sentence: Message
  ) -> (TransferError, isTransient: Bool) {
    (error(code, failure, sentence), true)
  }

  func permanent(
    _ code: TransferError.Code, _ failure: CurlFailure?, _ sentence: Message
  ) -> (TransferError, isTransient: Bool) {
    (error(code, failure, sentence), false)
  }

  private func error(
    _ code: TransferError.Code, _ failure: CurlFailure?, _ sentence: Message
  ) -> TransferError {
    TransferError(
      code, on: url.description, "The request to \(url) \(sentence)", underlying: failure)
  }
}
