import FormStreamPlatform

/// Adds sentences about other attempts to an error.
extension TransferError {
  /// Adds why a request is not repeated.
  ///
  /// - Parameter length: the length of the body, which can be read once; nil if it is not known.
  func notRetried(length: Int64?) -> TransferError {
    adding(
      "It is not retried, as its body is a stream that can be read once: \(Self.onceRemedy(length: length))."
    )
  }

  /// Adds that an earlier attempt may have been carried out.
  var afterDoubtfulAttempt: TransferError {
    adding("An earlier attempt was sent completely, and may have been carried out.")
  }

  /// Adds whether an upload whose server didn't respond can go on later.
  ///
  /// - Parameter isKept: whether a file or the caller keeps what that needs.
  func sayingWhetherUploadGoesOn(isKept: Bool) -> TransferError {
    adding(
      isKept
        ? "The upload can go on later."
        : "To let such an upload go on later, name a file that keeps its state (\(SettingName.resumeFile)).")
  }

  /// Adds that a request was cancelled too late.
  var afterCompleteRequest: TransferError {
    adding("It was sent completely, and may be carried out: ask the server.")
  }

  /// Adds what to do about an unknown outcome, unless the message says it already.
  var namingServer: TransferError {
    if description.contains("sk the server") { return self }
    return adding(
      "Ask the server whether it received the request before you send it again.")
  }

  /// Adds the key that makes another attempt safe.
  func naming(_ key: IdempotencyKey) -> TransferError {
    adding(
      "To send it again, use the same key (\(SettingName.idempotencyKey) \(key.value.quoted)), so that it is "
        + "carried out only once.")
  }
}

/// Why a request is not repeated after the wait that the server asks for (`Retry-After`).
extension Message {
  static func waitTooLong(_ wait: Duration, limit: Duration) -> Message {
    "\(asked(wait)), and at most \(limit.inSeconds) are waited for: try again then, or allow a longer "
      + "wait (\(SettingName.longestRetryAfter))."
  }

  static func waitEndsTooLate(_ wait: Duration, limit: Duration) -> Message {
    "\(asked(wait)), and no attempt begins later than \(limit.inSeconds) after the first: try again then, or allow a later "
      + "one (\(SettingName.retryTimeLimit))."
  }

  static func outageTooLong(_ time: Duration) -> Message {
    "The server was tried for \(time.inSeconds)."
  }

  static func outageBeyondTimeLimit(_ limit: Duration) -> Message {
    "No attempt begins later than \(limit.inSeconds) after the first (\(SettingName.retryTimeLimit))."
  }

  private static func asked(_ wait: Duration) -> String {
    "It asks to come again in \(RetryAfter.text(wait)) (Retry-After)"
  }
}
