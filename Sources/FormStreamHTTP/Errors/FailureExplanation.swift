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

  /// Explains a failure of the wire. Also returns whether another attempt may succeed.
  func error(for failure: WireFailure) -> (TransferError, isTransient: Bool) {
    if encryption.isClientCertificateRefused { return clientCertificateRefused(failure) }
    switch failure.cause {
    case .hostNotFound(.proxy):
      return permanent(
        .hostNotFound, failure,
        "could not be sent: the host of the proxy \(connected) was not found. Check its name.")
    case .hostNotFound(let lookup):
      if let unreachable = addressForSOCKS4(lookup, failure) { return unreachable }
      return permanent(
        .hostNotFound, failure,
        "could not be sent: the host \(lookedUpHost(lookup).quoted) was not found. Check its name.\(socks4Note(lookup))\(familyNote)"
      )
    case .notConnected(let reason):
      if let path = configuration.unixSocket, isOtherThanSocket(path) {
        return permanent(
          .invalidSetting, failure,
          "could not be sent: \(path.description.quoted) is not a socket. Name the socket at which the server listens."
        )
      }
      if let excluded = excludedAddress(failure) { return excluded }
      return transient(
        .connectFailed, failure,
        "could not be sent: nothing is listening at \(connected)\(reason.map { " (\($0))" } ?? ""). Check that the "
          + "\(proxy == nil ? "server" : "proxy") is running, and try again.\(familyNote)")
    case .interface:
      return permanent(
        .interfaceUnusable, failure,
        "could not be sent: this machine doesn't have the interface or address that connections are to begin at, or it "
          + "can't be used (\(SettingName.localInterface)).")
    case .refusedByProxy(let refusal):
      return refusedByProxy(refusal, failure)
    case .notConnectedInTime:
      return transient(
        .connectTimedOut, failure,
        "could not be sent: \(connected) could not be reached in time. Try again later."
      )
    case .certificate:
      return permanent(.certificateRefused, failure, encryption.refusedCertificate(failure.detail))
    case .publicKey:
      return permanent(
        .publicKeyMismatch, failure,
        "was not sent: the server has another public key than the one that is pinned (\(SettingName.pin)). Find out why "
          + "before you change the pin.")
    case .notEncrypted(let reason), .noCommonProtocol(let reason):
      return permanent(
        .tlsFailed, failure,
        "could not be sent: there is no encrypted connection to \(encryptedPeer)\(encryption.failure(reason))"
      )
    case .handshakeCut:
      return transient(
        .tlsFailed, failure,
        "could not be sent: \(encryptedPeer) closed the connection before it was encrypted "
          + "(\(failure.ending.reason)). Try again later.\(encryption.clientCertificateNote)"
          + (encryption.isWithProxy
            ? ""
            : " If its port is one of http, write http://\(url.origin.host):\(url.origin.port)."))
    case .authoritiesFile:
      let setting: SettingName = encryption.isWithProxy ? .proxyAuthorities : .authorities
      return permanent(
        .tlsFileUnusable, failure,
        "could not be sent: the trusted authorities can't be read. Name a PEM file of their certificates "
          + "(\(setting)).")
    case .tlsFile(let file):
      return permanent(
        .tlsFileUnusable, failure,
        "could not be sent: a certificate or key can't be used (\(file.reason)). Name PEM "
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
    case .malformedHTTP2(let error):
      return response == nil
        ? malformedHTTP2(error, failure) : connectionLost(failure.ending.reason, failure)
    case .foldedFirstHeader:
      return permanent(
        .malformedResponse, failure,
        "received a response whose first header begins with white space, so that it is none. Check the server."
      )
    case .malformed(let malformation):
      return permanent(
        .malformedResponse, failure,
        "received a response that is not HTTP: \(malformation.reason). Check the server, and that the port is right."
      )
    case .broken, .noResponse: return connectionLost(failure.ending.reason, failure)
    case .ended: return connectionLost(WireFailure.Ending.closed.reason, failure)
    case .other:
      guard stage == .notSent else { return connectionLost(failure.ending.reason, failure) }
      return permanent(.engineFailed, failure, "could not be sent: \(failure.detail).")
    }
  }

  /// The error of a response that is not valid HTTP/2, or of a request that the server ended with an HTTP/2 error.
  func malformedHTTP2(_ error: String?, _ failure: WireFailure) -> (TransferError, isTransient: Bool) {
    let ending = error.map(WireFailure.Ending.http2Error) ?? .notHTTP2
    return permanent(
      .malformedResponse, failure,
      "was sent, and \(ending.reason): the response can't be read. Check the server, or "
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

  /// The error of a response that could not be read.
  var responseLost: TransferError {
    error(
      .respondedEarly, nil,
      "was ended by the server after \(handedOver) of its \(total.map { counted($0, "byte", "bytes") } ?? "unknown number of bytes"), with a "
        + "response that could not be read. Ask the server what it received.")
  }

  /// Explains a connection that ended before the response was complete.
  func connectionLost(
    _ reason: String, _ failure: WireFailure?
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
    _ failure: WireFailure
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
  private func refusedByProxy(
    _ refusal: ProxyRefusal, _ failure: WireFailure
  ) -> (TransferError, isTransient: Bool) {
    let remedy: Message =
      refusal.areCredentialsRefused
      ? "Set its user and password (\(SettingName.proxyCredentials))."
      : refusal.isOfOtherProtocol
        ? "Check its scheme and its port."
        : refusal.isTransient ? "Try again later." : "Ask its operator, or use another proxy."
    return (
      error(
        .proxyRefused, failure,
        "was not sent: the proxy \(connected) made no connection to \(url.origin) (\(refusal.reason(of: proxy))). \(remedy)"
      ),
      refusal.isTransient
    )
  }

  /// The proxy or the server that this client connects to.
  private var connected: String { proxy?.description ?? "\(url.origin)" }

  /// The proxy or the server that a handshake was with.
  private var encryptedPeer: String {
    encryption.isWithProxy ? "the proxy \(connected)" : "the server at \(url.origin)"
  }

  private func transient(
    _ code: TransferError.Code, _ failure: WireFailure?, _ sentence: Message
  ) -> (TransferError, isTransient: Bool) {
    (error(code, failure, sentence), true)
  }

  func permanent(
    _ code: TransferError.Code, _ failure: WireFailure?, _ sentence: Message
  ) -> (TransferError, isTransient: Bool) {
    (error(code, failure, sentence), false)
  }

  private func error(
    _ code: TransferError.Code, _ failure: WireFailure?, _ sentence: Message
  ) -> TransferError {
    TransferError(
      code, on: url.description, "The request to \(url) \(sentence)", underlying: failure)
  }
}
