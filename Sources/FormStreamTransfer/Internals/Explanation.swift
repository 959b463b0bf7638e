import FormStreamMultipart

/// Says what became of an exchange that libcurl could not end well, and what to do.
struct Explanation {
  let url: HTTPURL
  let stage: Exchange.Stage
  /// How many bytes of the body the system took, and how many there are.
  let handedOver: Int64
  let total: Int64?
  /// The answer, where its head came, and how many bytes of its body did.
  let response: TransferResponse?
  let received: Int64

  /// What a failure of libcurl's means, and whether trying again might help.
  func told(of failure: CurlFailure) -> (TransferError, isTransient: Bool) {
    func error(
      _ code: TransferError.Code, _ text: String, transient: Bool
    ) -> (TransferError, isTransient: Bool) {
      (
        TransferError(
          code, on: url.description, "The request to \(url) \(text)", underlying: failure),
        transient
      )
    }
    let reason = failure.message
    switch failure.kind {
    case .hostNotFound:
      return error(
        .hostNotFound,
        "could not be sent: the host \(url.origin.host.quoted) was not found (\(reason)). "
          + "Check its name.", transient: false)
    case .connect:
      return error(
        .connectFailed,
        "could not be sent: nobody takes it at \(url.origin) (\(reason)). Check that the "
          + "server runs, and try again.", transient: true)
    case .connectTimeout:
      return error(
        .connectTimedOut,
        "could not be sent: \(url.origin) could not be reached in time (\(reason)). Try "
          + "again later.", transient: true)
    case .certificate:
      return error(
        .certificateRefused,
        "was not sent: the server's certificate is not to be trusted (\(reason)). Name "
          + "the authority that made it (--cacert), if it is known.", transient: false)
    case .tls:
      return error(
        .tlsFailed,
        "could not be sent: there is no encrypted connection to \(url.origin) (\(reason)).",
        transient: false)
    case .tlsFile:
      return error(
        .tlsFileUnusable,
        "could not be sent: a certificate or key can't be used (\(reason)). Name PEM "
          + "files that belong together.", transient: false)
    case .lineTooLong:
      return error(
        .responseTooLarge, "was answered by a head with a line that is too long (\(reason)).",
        transient: false)
    case .malformed:
      return error(
        .malformedResponse, "was answered by something that is no HTTP (\(reason)).",
        transient: false
      )
    case .send, .receive, .noAnswer, .rewindRefused, .cancelledByUs:
      return lost(reason, failure)
    case .other:
      return stage == .notSent
        ? error(
          .engineFailed, "could not be sent: \(reason) (libcurl \(failure.number)).",
          transient: false)
        : lost(reason, failure)
    }
  }

  /// What it means that the connection ended.
  func lost(
    _ reason: String, _ failure: CurlFailure?
  ) -> (TransferError, isTransient: Bool) {
    if let response {
      return (
        TransferError(
          .connectionLost, on: url.description,
          "The answer from \(url), of status \(response.status), broke off after "
            + "\(received) bytes (\(reason)).", underlying: failure), true
      )
    }
    let sentence =
      switch stage {
      case .notSent: "was not sent: the connection broke (\(reason)). Try again."
      case .partlySent:
        "was sent in part only, \(handedOver) of \(total.map(String.init) ?? "an unknown number of") bytes: the "
          + "connection broke (\(reason)). The server can't have it whole."
      case .sent:
        "was sent, and the connection broke before there was an answer (\(reason)). Ask the server whether "
          + "it has it before it is sent again."
      }
    return (
      TransferError(
        .connectionLost, on: url.description, "The request to \(url) \(sentence)",
        underlying: failure), true
    )
  }
}
