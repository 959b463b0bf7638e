extension TransferError {
  static let noThread = TransferError(
    .engineFailed, on: "a thread",
    "The system can't start another thread: raise the limits for memory and processes (ulimit).")

  static func noConnectionInTime(
    _ time: Duration, _ setting: SettingName, to url: HTTPURL
  ) -> TransferError {
    TransferError(
      .timedOut, on: url.description,
      "The request to \(url) waited \(time.inSeconds) for other requests to its host, so nothing was sent: raise the "
        + "limit (\(setting)) or that of connections (\(SettingName.connectionsPerHost)), and read "
        + "open responses to their end.")
  }

  static func connectionsHeldUp(_ patience: Duration, to url: HTTPURL) -> TransferError {
    TransferError(
      .stalled, on: url.description,
      "The request to \(url) was not sent: all connections to its host belong to requests that have moved nothing for "
        + "\(patience.inSeconds), because they are paused, or wait for the program to write their bodies or to read their "
        + "responses. Read open responses to their end, or allow more connections "
        + "(\(SettingName.connectionsPerHost)).")
  }

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

  static let sessionFinished = TransferError(
    .sessionFinished, on: "the session",
    "The session was told to finish, so it starts no requests: create another session.")

  static func notDeliveredInTime(_ limit: Duration, from url: HTTPURL) -> TransferError {
    TransferError(
      .timedOut, on: url.description,
      "The response from \(url) was not accepted by its target within \(limit.inSeconds): raise the limit "
        + "(\(SettingName.attemptLimit)), or make the target faster.")
  }

  package static let cancelledBeforeResponse = TransferError(
    .cancelled, on: "the request", "The request was cancelled before a response arrived.")

  package static let cancelledDuringResponse = TransferError(
    .cancelled, on: "the request", "The request was cancelled while its response arrived.")
}
