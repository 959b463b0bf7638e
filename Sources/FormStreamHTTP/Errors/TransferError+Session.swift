/// Requests that end because of the session, the program or the system.
extension TransferError {
  static let sessionFinished = TransferError(
    .sessionFinished, on: "the session",
    "The session was told to finish, so it starts no requests: create another session.")

  package static let cancelledBeforeResponse = TransferError(
    .cancelled, on: "the request", "The request was cancelled before a response arrived.")

  package static let cancelledDuringResponse = TransferError(
    .cancelled, on: "the request", "The request was cancelled while its response arrived.")

  static let noThread = TransferError(
    .engineFailed, on: "a thread",
    "The system can't start another thread: raise the limits for memory and processes (ulimit).")

  static let libcurlNotStarted = TransferError(
    .engineFailed, on: "libcurl", "libcurl can't be started: there is not enough memory.")

  /// What a program decides while a request is sent; see ``Decisions``.
  enum Decision: String {
    case challenge = "the credentials for the 401"
    case redirect = "the redirect"
    case responseHead = "the response"
    case destination = "the place of the download"
  }

  static func decisionFailed(
    _ decision: Decision, _ url: HTTPURL, _ error: any Error
  ) -> TransferError {
    let reason = "\(error)"
    return TransferError(
      .decisionFailed, on: url.description,
      "The program's decision about \(decision.rawValue) from \(url) failed: \(reason)\(reason.hasSuffix(".") ? "" : ".")",
      underlying: error)
  }
}
