import FormStream

/// Failures of servers that take only bodies whose length is announced.
extension TransferError {
  static let lengthRemedy =
    "It takes only bodies whose length is announced, and this one is a stream that can be read once: let it be stored "
    + "before it is sent (\(SettingName.spooling)), or read further ahead (\(SettingName.readAhead))."

  /// RFC 9112 §6.1: "A client MUST NOT send a request containing Transfer-Encoding unless it knows the server will handle
  /// HTTP/1.1 requests (or later minor revisions)".
  static func lengthRequired(_ url: HTTPURL) -> TransferError {
    TransferError(
      .lengthRequired, on: url.description,
      "The request to \(url) was not sent: the server speaks HTTP/1.0, which has no chunks. "
        + lengthRemedy
    )
  }

  /// The server may have taken the body for an empty one.
  static func chunksOverHTTP10(_ url: HTTPURL, _ status: Int) -> TransferError {
    TransferError(
      .lengthRequired, on: url.description,
      "The server at \(url) responded \(status) in HTTP/1.0, which has no chunks, and the body was sent in chunks: it may "
        + "have received nothing of it. Ask the server, and let the body be stored before it is sent "
        + "(\(SettingName.spooling)), or read further ahead (\(SettingName.readAhead)).")
  }
}
