import FormStreamMultipart

/// Failures because a server takes only bodies whose length is announced.
extension TransferError {
  /// What to do about a body that can be read only once.
  ///
  /// - Parameter length: the length of the body; nil if it is not known.
  static func onceRemedy(length: Int64?) -> Message {
    // A stream of known length is never spooled.
    guard length == nil else { return "use a file as the body" }
    return
      "let it be stored before it is sent (\(SettingName.spooling)), or read further ahead (\(SettingName.readAhead))"
  }

  private static let lengthRemedy: Message =
    "whose length is announced, and this one is a stream that can be read once: \(onceRemedy(length: nil))."

  /// Says why a server may have refused a body in chunks, and what to do.
  func refusingChunks(_ status: Int) -> TransferError {
    // RFC 9110 §15.6.2: "This is the appropriate response when the server does not recognize the request method".
    adding(
      status == 501
        ? "It may not support the method. Or it takes only bodies \(Self.lengthRemedy)"
        : "It takes only bodies \(Self.lengthRemedy)")
  }

  /// RFC 9112 §6.1: "A client MUST NOT send a request containing Transfer-Encoding unless it knows the server will handle
  /// HTTP/1.1 requests (or later minor revisions)".
  static func lengthRequired(_ url: HTTPURL) -> TransferError {
    TransferError(
      .lengthRequired, on: url.description,
      "The request to \(url) was not sent: the server speaks HTTP/1.0, which has no chunks. "
        + "It takes only bodies \(lengthRemedy)")
  }

  /// The server may have taken the body for an empty one.
  static func chunksOverHTTP10(_ url: HTTPURL, _ status: Int) -> TransferError {
    TransferError(
      .lengthRequired, on: url.description,
      "The server at \(url) responded \(status) in HTTP/1.0, which has no chunks, and the body was sent in chunks: it may "
        + "have received nothing of it. Ask the server. To send the body with its length, \(onceRemedy(length: nil))."
    )
  }
}
