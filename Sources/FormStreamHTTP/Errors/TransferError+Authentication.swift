import FormStreamPlatform

/// Credentials that can't be sent, or are not sent.
extension TransferError {
  static let controlCharacterInToken = TransferError(
    .invalidHeader, on: "Authorization",
    "The token contains a control character: remove line breaks.")

  static let controlCharacterInUser = TransferError(
    .invalidHeader, on: "Authorization",
    "The user contains a control character: remove line breaks.")

  static let colonInUser = TransferError(
    .invalidHeader, on: "Authorization",
    "The user contains a colon, and with Basic the server would take what comes after it for the password: use another user, "
      + "or Digest.")

  static func credentialsNotEncrypted(_ url: HTTPURL) -> TransferError {
    TransferError(
      .credentialsNotEncrypted, on: url.description,
      "The credentials of the request to \(url) would be sent without encryption: use https, or allow it by "
        + "requiresEncryptionForCredentials.")
  }

  static func credentialsRefusedBefore(_ url: HTTPURL) -> TransferError {
    TransferError(
      .credentialsRefused, on: url.description,
      "The credentials of the request to \(url) were refused before by \(url.origin), and are not sent there again: check "
        + "them.")
  }

  static func refusedBefore(by proxy: Proxy, _ url: HTTPURL) -> TransferError {
    TransferError(
      .proxyRefused, on: url.description,
      "The request to \(url) was not sent: its proxy, \(proxy), demanded a user and a password before, or other ones. Set "
        + "them (\(SettingName.proxyCredentials)).")
  }

  /// The proxy responded 407.
  static func credentialsDemandedByProxy(_ url: HTTPURL) -> TransferError {
    TransferError(
      .proxyRefused, on: url.description,
      "The request to \(url) was not passed on: its proxy demands a user and a password, or other ones (407). Set "
        + "them (\(SettingName.proxyCredentials)).")
  }
}

/// Bodies that can be read only once, and credentials that wait for the server.
extension TransferError {
  /// - Parameter length: the length of the body; nil if it is not known.
  static func notAskedForBody(_ url: HTTPURL, length: Int64?) -> TransferError {
    TransferError(
      .notReplayable, on: url.description,
      "The server at \(url) neither asked for credentials nor for the body, which can be read once, so nothing of it was "
        + "sent: \(onceRemedy(length: length)), send credentials that don't wait for the server (Basic), or give the "
        + "server more time (\(SettingName.expectation)).")
  }

  /// - Parameter length: the length of the body; nil if it is not known.
  static func bodyCannotWait(_ url: HTTPURL, length: Int64?) -> TransferError {
    TransferError(
      .notReplayable, on: url.description,
      "The request to \(url) was not sent: its credentials wait until the server asks for them, and its body can be read "
        + "once. Let the server be asked before the body (\(SettingName.expectation)), \(onceRemedy(length: length)), "
        + "or send credentials that don't wait (Basic).")
  }

  /// The server asked for credentials after a part of the body was read.
  ///
  /// - Parameters:
  ///   - refused: the error that names the response.
  ///   - length: the length of the body; nil if it is not known.
  static func bodyBegunBeforeChallenge(
    _ url: HTTPURL, _ refused: TransferError, length: Int64?
  ) -> TransferError {
    TransferError(
      .notReplayable, on: url.description,
      "\(refused.message) The body is a stream that can be read once, and it was begun, so it is not sent again: "
        + "\(onceRemedy(length: length)).")
  }
}

/// What a 401 says about the credentials.
extension TransferError {
  /// Adds what the server asks for, or why it refused the credentials that were sent.
  ///
  /// RFC 9110 §11.4: "Upon receipt of a request for a protected resource that omits credentials, contains invalid
  /// credentials […] an origin server SHOULD send a 401".
  ///
  /// - Parameter sentScheme: the scheme of the credentials that were sent; nil if there were none.
  func challenging(_ offers: [OfferedScheme], sent sentScheme: String?) -> TransferError {
    guard let sentScheme else {
      guard !offers.isEmpty else {
        return adding("It doesn't say which credentials it asks for.")
      }
      let shown = offers.prefix(5).map(\.shown) + (offers.count > 5 ? ["…"] : [])
      return adding(
        "It asks for credentials (\(shown.joined(separator: "; "))).\(Self.unanswerable(offers))")
    }
    let named = offers.first { $0.isScheme(sentScheme) }?.shown ?? sentScheme
    if sentScheme == "Digest", DigestChallenge.strongest(of: offers)?.isStale == true {
      return adding(
        "It says each time that the nonce of the credentials is too old (\(named)): it has to accept one that it has just "
          + "named. This says nothing about the password.")
    }
    return adding(
      "It refused the credentials (\(named)): check them. This request does not send them again.")
  }

  private static func unanswerable(_ offers: [OfferedScheme]) -> String {
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
  /// The scheme and its realm, for messages. They are cut, so that a server can't make a message long.
  fileprivate var shown: String {
    let scheme = String(scheme.prefix(50))
    return realm.map { "\(scheme), realm \(String($0.unicodeScalars.prefix(100)).quoted)" }
      ?? scheme
  }
}
