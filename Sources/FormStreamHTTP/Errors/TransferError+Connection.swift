import FormStreamPlatform

/// Hosts that are not found, and certificates that a program refuses. `FailureExplanation` has the sentences about all other
/// failures of connections.
extension TransferError {
  /// The name servers could not be asked, so the host may exist.
  static func hostLookupFailed(
    _ url: HTTPURL, _ host: String, _ underlying: (any Error)?
  ) -> TransferError {
    TransferError(
      .hostLookupFailed, on: url.description,
      "The request to \(url) could not be sent: the name servers could not be asked for the host "
        + "\(host.quoted). Check the network, and try again later.",
      underlying: underlying)
  }

  static func certificateRefusedByProgram(_ trust: ServerTrust, _ url: HTTPURL) -> TransferError {
    let check = trust.problem.map { "it: \($0)" } ?? "no objection to it"
    return TransferError(
      .certificateRefused, on: url.description,
      "The request to \(url) was not sent: this program refuses the server's certificate. The platform's check has "
        + "\(trust.isVerified ? check : "this against \(check)").")
  }

  static func tooManyCertificates(_ url: HTTPURL) -> TransferError {
    TransferError(
      .certificateRefused, on: url.description,
      "The request to \(url) was not sent: the server shows another certificate each time, so that this program "
        + "can't decide on it. Check the server.")
  }

  static func notTrustedInTime(_ limit: Duration, _ url: HTTPURL) -> TransferError {
    TransferError(
      .timedOut, on: url.description,
      "The request to \(url) was not sent: this program did not decide on the server's certificate within "
        + "\(limit.inSeconds). Raise the limit (\(SettingName.attemptLimit)).")
  }
}
