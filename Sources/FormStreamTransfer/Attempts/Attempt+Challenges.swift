import FormStreamPlatform

/// Decides what follows a 401.
extension Attempt {
  /// - Parameter refused: the error that names the response.
  func decisionOnChallenge(
    _ response: AttemptFacts.Response, _ refused: TransferError
  ) -> AttemptDecision {
    let error = refused.adding(explanation(response.offers))
    guard mayAuthenticate else { return .conclude(.failed, error) }
    guard !hasUsedOneShot else {
      return .conclude(
        .failed,
        TransferError(
          .notReplayable, on: url.description,
          error.description
            + " The body is a stream that can be read once, and it was begun, so it is not sent again: let the server "
            + "be asked before the body (\(SettingName.expectation)), or use a file as the body."))
    }
    return .authenticate(.init(.failed, error))
  }

  /// RFC 9110 §11.4: "Upon receipt of a request for a protected resource that omits credentials, contains invalid
  /// credentials […] an origin server SHOULD send a 401".
  private func explanation(_ offers: [OfferedScheme]) -> String {
    let offered = offers.map { offer in
      offer.realm.map { "\(offer.scheme), realm \(String($0.prefix(100)).quoted)" } ?? offer.scheme
    }
    guard let sentScheme else {
      return offered.isEmpty
        ? "It doesn't say which credentials it asks for."
        : "It asks for credentials (\(offered.joined(separator: "; "))).\(unanswerable(offers))"
    }
    let named = zip(offers, offered).first { $0.0.isScheme(sentScheme) }?.1 ?? sentScheme
    return
      "It refused the credentials (\(named)): check them. This request does not send them again."
  }

  private func unanswerable(_ offers: [OfferedScheme]) -> String {
    guard offers.contains(where: { $0.isScheme("Digest") && !$0.isRepeatable }) else {
      return ""
    }
    return " The challenge can't be answered: it has a control character in it, or is not UTF-8."
  }
}
