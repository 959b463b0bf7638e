import FormStreamPlatform

/// Redirects that are not followed. Their locations are shown with secrets masked.
extension TransferError {
  /// Why a redirect is not followed.
  enum RedirectObstacle {
    /// A GET to the new URL would not show whether the request was carried out.
    case notRepeated
    /// The status is not a redirect that can be followed.
    case status
    case notAURL
    /// The maximum number of redirects was followed.
    case limit(Int)
    /// The request is encrypted, and would be sent without encryption.
    case losesEncryption
    case notEncrypted
    /// The session doesn't allow requests without encryption to the host.
    case notEncryptedInSession
    case otherOrigin
    /// The request may have been carried out, and another server doesn't get the idempotency key.
    case otherOriginWithoutKey

    var reason: Message {
      switch self {
      case .notRepeated:
        "the response to a GET there would prove nothing, and only 307 and 308 ask to send the request "
          + "again. Send it to that URL if that is right"
      case .status: "this status is not a redirect that can be followed"
      case .notAURL: "that is not a URL of http or https"
      case .limit(let limit): "at most \(counted(limit, "redirect is", "redirects are")) followed"
      case .losesEncryption: "an encrypted request is not sent again without encryption"
      case .notEncrypted: "only redirects to https are allowed"
      case .notEncryptedInSession: .onlyEncrypted
      case .otherOrigin:
        "that is another server, and redirects to other servers are not allowed "
          + "(\(SettingName.otherOrigins) allows them)"
      case .otherOriginWithoutKey:
        "that is another server, which does not get the idempotency key, so it might carry out the request once more"
      }
    }
  }

  static func redirectRefused(
    _ url: HTTPURL, _ status: Int, of method: HTTPMethod, to location: String,
    because obstacle: RedirectObstacle
  ) -> TransferError {
    TransferError(
      .redirectRefused, on: location,
      "The server at \(url) responded \(status) and redirects \(method) to \(location.quoted): "
        + "\(obstacle.reason).")
  }

  /// - Parameter count: how many redirects were followed.
  static func tooManyRedirects(
    _ count: Int, to location: String, because obstacle: RedirectObstacle
  ) -> TransferError {
    TransferError(
      .tooManyRedirects, on: location,
      "\(counted(count, "redirect was", "redirects were")) followed, the last to \(location.quoted): \(obstacle.reason)."
    )
  }

  /// - Parameter length: the length of the body; nil if it is not known.
  static func redirectOfOneShot(
    _ url: HTTPURL, to location: String, length: Int64?
  ) -> TransferError {
    TransferError(
      .notReplayable, on: location,
      "The server at \(url) redirects the request to \(location.quoted), and its body is a stream that can be "
        + "read once: send it to that URL, or \(onceRemedy(length: length)).")
  }

  /// A 303 says that the request was carried out, but this 303 came before the server had the complete body.
  static func redirectedEarly(_ url: HTTPURL) -> TransferError {
    TransferError(
      .respondedEarly, on: url.description,
      "The server at \(url) responded 303 before it had the complete body.")
  }

  static func derivedHeaderOfRedirect(_ name: String) -> TransferError {
    TransferError(
      .invalidHeader, on: name,
      "The header \(name) follows from the request's body or its settings, so a redirect can't change it: leave it out.")
  }

  static func methodOfRedirect(_ old: HTTPMethod, _ new: HTTPMethod) -> TransferError {
    TransferError(
      .invalidSetting, on: new.description,
      "A redirect can't change this \(old) to \(new), because the response would not show what became of the \(old): follow "
        + "the redirect with \(old), or keep it and send another request.")
  }

  static func redirectKept(from url: HTTPURL, _ status: Int) -> TransferError {
    TransferError(
      .redirectRefused, on: url.description,
      "The server at \(url) responded \(status), and the program decided not to follow the redirect."
    )
  }
}
