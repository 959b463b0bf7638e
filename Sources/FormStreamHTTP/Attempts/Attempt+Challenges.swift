/// Decides what follows a 401.
extension Attempt {
  /// - Parameter refused: the error that reports the 401.
  func decisionOnChallenge(
    _ response: AttemptFacts.Response, _ refused: TransferError
  ) -> AttemptDecision {
    let error = refused.challenging(response.offers, sent: sentScheme)
    guard mayAuthenticate else { return .conclude(.failed, error) }
    guard !hasUsedOneShot else {
      return .conclude(.failed, .bodyBegunBeforeChallenge(url, error, length: bodyLength))
    }
    return .authenticate(.init(.failed, error))
  }
}
