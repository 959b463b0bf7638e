import FormStreamPlatform

/// Requests that exceed a time limit.
extension TransferError {
  static func tookTooLong(_ url: HTTPURL, _ limit: Duration) -> TransferError {
    TransferError(
      .timedOut, on: url.description,
      "The request to \(url) took longer than \(limit.inSeconds): raise the limit (\(SettingName.attemptLimit))."
    )
  }

  static func noResponseInTime(_ url: HTTPURL, _ limit: Duration) -> TransferError {
    TransferError(
      .responseTimedOut, on: url.description,
      "The request to \(url) was sent, and no response arrived within \(limit.inSeconds): raise the limit "
        + "(\(SettingName.responseLimit)).")
  }

  static func stalled(_ url: HTTPURL, _ limit: Duration) -> TransferError {
    TransferError(
      .stalled, on: url.description,
      "The request to \(url) made no progress for \(limit.inSeconds): try again later.")
  }

  /// - Parameter setting: the setting that limits the time.
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

  static func notDeliveredInTime(_ limit: Duration, from url: HTTPURL) -> TransferError {
    TransferError(
      .timedOut, on: url.description,
      "The response from \(url) was not accepted by its target within \(limit.inSeconds): raise the limit "
        + "(\(SettingName.attemptLimit)), or make the target faster.")
  }
}
