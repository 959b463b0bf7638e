import FormStreamPlatform

/// Decides what follows a 401.
extension Attempt {
  /// - Parameter refused: the error that names the response.
  func decisionOnChallenge(
    _ response: AttemptFacts.Response, _ refused: TransferError
  ) -> AttemptDecision {
    let error = refused.adding("\(explanation(response.offers))")
    guard mayAuthenticate else { return .conclude(.failed, error) }
    guard !hasUsedOneShot else {
      return .conclude(
        .failed,
        TransferError(
          .notReplayable, on: url.description,
          "\(error.message) The body is a stream that can be read once, and it was begun, so it is not sent again: "
            + "\(TransferError.onceRemedy(length: bodyLength))."))
    }
    return .authenticate(.init(.failed, error))
  }

  /// RFC 9110 §11.4: "Upon receipt of a request for a protected resource that omits credentials, contains invalid
  /// credentials […] an origin server SHOULD send a 401".
  private func explanation(_ offers: [OfferedScheme]) -> String {
    guard let sentScheme else {
      guard !offers.isEmpty else { return "It doesn't say which credentials it asks for." }
      let shown = offers.prefix(5).map(\.shown) + (offers.count > 5 ? ["…"] : [])
      return
        "It asks for credentials (\(shown.joined(separator: "; "))).\(unanswerable(offers))"
    }
    let named = offers.first { $0.isScheme(sentScheme) }?.shown ?? sentScheme
    if sentScheme == "Digest", DigestChallenge.strongest(of: offers)?.isStale == true {
      return
        "It says each time that the nonce of the credentials is too old (\(named)): it has to accept one that it has just "
        + "named. This says nothing about the password."
    }
    return
      "It refused the credentials (\(named)): check them. This request does not send them again."
  }

  private func unanswerable(_ offers: [OfferedScheme]) -> String {
    if offers.contains(where: { $0.isScheme("Digest") && !$0.isRepeatable }) {
      return " The challenge can't be answered: it has a control character in it, or is not UTF-8."
    }
    guard DigestChallenge.strongest(of: offers) == nil,
      let kind = offers.lazy.compactMap(DigestChallenge.unsupportedKind).first
    else { return "" }
    return
      " Of Digest it asks for a kind that is not supported (\(kind.name)): let the server offer \(kind.supported), or another "
      + "scheme."
  }
}

extension OfferedScheme {
  /// The scheme and its realm, for messages, which a server can't make long.
  fileprivate var shown: String {
    let scheme = String(scheme.prefix(50))
    return realm.map { "\(scheme), realm \(String($0.unicodeScalars.prefix(100)).quoted)" }
      ?? scheme
  }
}
