import FormStreamMultipart
import FormStreamPlatform

/// Responses that refuse a request, or say too little about it.
extension TransferError {
  /// - Parameter method: the method of the request; nil if the message doesn't name it.
  static func statusRefused(
    _ url: HTTPURL, _ status: Int, to method: HTTPMethod? = nil
  ) -> TransferError {
    let request = method.map { " to \($0)" } ?? ""
    return TransferError(
      .statusRefused, on: url.description, "The server at \(url) responded \(status)\(request).")
  }

  /// - Parameters:
  ///   - sent: how many bytes of the body were handed over before the response.
  ///   - length: the length of the body; nil if it is not known.
  static func respondedEarly(
    _ url: HTTPURL, _ status: Int, after sent: Int64, of length: Int64?
  ) -> TransferError {
    let total = length.map { counted($0, "byte", "bytes") } ?? "an unknown number of bytes"
    return TransferError(
      .respondedEarly, on: url.description,
      "The server at \(url) responded \(status) after \(sent) of "
        + "\(total): that can't confirm the complete body. Ask the server what it received.")
  }

  /// Adds that the server behind a gateway may have carried out the request.
  var perhapsPassedOn: TransferError {
    adding("The request may have been passed on and carried out: ask the server that it is for.")
  }

  /// Adds that the server may have refused the request because its body is compressed.
  var refusingCompressedBody: TransferError {
    adding("It may not take compressed bodies: send it without \(SettingName.bodyCoding).")
  }

  static func endedWithoutResponse(_ url: HTTPURL) -> TransferError {
    TransferError(
      .engineFailed, on: url.description,
      "The request to \(url) ended with neither a response nor an error.")
  }
}

/// Heads that are not valid, so that the end of the response can't be known.
extension TransferError {
  static func headsTooLong(_ url: HTTPURL, limit: Int) -> TransferError {
    TransferError(
      .responseTooLarge, on: url.description,
      "The heads of the response from \(url) have more than \(counted(limit, "byte", "bytes")): check the "
        + "server.")
  }

  /// - Parameter head: the head, secrets masked.
  static func noValidStatus(_ url: HTTPURL, _ head: String) -> TransferError {
    malformed(url, "The response from \(url) has no valid status: \(head.quoted).")
  }

  static func protocolSwitched(_ url: HTTPURL) -> TransferError {
    malformed(url, "The server at \(url) switches to another protocol, which was not requested.")
  }

  static func tooManyInformationalResponses(_ url: HTTPURL, _ count: Int) -> TransferError {
    malformed(
      url, "The server at \(url) sent \(count) informational responses and no final one.")
  }

  /// - Parameter head: the head, secrets masked.
  static func lengthMalformed(_ url: HTTPURL, _ head: String) -> TransferError {
    malformed(
      url,
      "The response from \(url) has a malformed length (Content-Length or Transfer-Encoding), so that its end can't be "
        + "known: \(head.quoted).")
  }

  static func severalLengths(_ url: HTTPURL) -> TransferError {
    malformed(
      url, "The response from \(url) has several lengths (Content-Length), or a malformed one.")
  }

  static func transferCodingUnknown(_ url: HTTPURL, _ codings: String) -> TransferError {
    malformed(
      url,
      "The response from \(url) has a transfer coding that was not asked for, so that its end can't be known: "
        + "\(codings.quoted).")
  }

  static func rangeOfEverything(_ url: HTTPURL, _ status: Int) -> TransferError {
    malformed(
      url,
      "The server at \(url) responded \(status) with a Content-Range, which only a part has (206): whether the response "
        + "is complete can't be known.")
  }

  static func bodyTooLong(_ url: HTTPURL, announced: Int64) -> TransferError {
    malformed(
      url,
      "The response from \(url) has more bytes than the \(announced) that it announces (Content-Length)."
    )
  }

  private static func malformed(_ url: HTTPURL, _ message: Message) -> TransferError {
    TransferError(.malformedResponse, on: url.description, message)
  }
}

/// Responses that are too large.
extension TransferError {
  /// The response exceeds ``TransferOptions/maximumResponseSize``.
  static func responseTooLarge(_ url: HTTPURL, _ limit: Int64) -> TransferError {
    TransferError(
      .responseTooLarge, on: url.description,
      "The response from \(url) has more than the \(counted(limit, "byte", "bytes")) that \(SettingName.maximumResponseSize) "
        + "allows.")
  }

  static func decodedResponseTooLarge(_ url: HTTPURL, limit: Int64) -> TransferError {
    TransferError(
      .responseTooLarge, on: url.description,
      "The response from \(url) has more than \(counted(limit, "byte", "bytes")) after decompression: raise "
        + "\(SettingName.responseCompressionLimit) if that is expected.")
  }

  static func responseTooLarge(_ url: HTTPURL, forTargetOf limit: Int) -> TransferError {
    tooLarge(url, "has more than the \(counted(limit, "byte", "bytes")) that its target keeps")
  }

  static func responseTooLarge(_ url: HTTPURL, toCollect limit: Int) -> TransferError {
    tooLarge(url, "has a body of more than \(counted(limit, "byte", "bytes"))")
  }

  static func lineTooLong(_ url: HTTPURL, limit: Int) -> TransferError {
    tooLarge(url, "has a line of more than \(counted(limit, "byte", "bytes"))")
  }

  static func partTooLong(_ url: HTTPURL, limit: Int) -> TransferError {
    tooLarge(url, "has a part of more than \(counted(limit, "byte", "bytes"))")
  }

  /// Only the beginning of the response was kept, because another response was expected to replace it.
  static func onlyBeginningKept(_ url: HTTPURL) -> TransferError {
    tooLarge(url, "was not expected to be the last, and only its beginning was kept")
  }

  private static func tooLarge(_ url: HTTPURL, _ what: String) -> TransferError {
    TransferError(
      .responseTooLarge, on: url.description,
      "The response from \(url) \(what): raise the limit, or read it in pieces.")
  }

  /// The end of the response was not kept, because another response was expected to replace it.
  static func heldResponseCut(_ held: TransferResponse) -> TransferError {
    TransferError(
      .responseTooLarge, on: held.url.description,
      "The response from \(held.url), of status \(held.status), is cut: of a response in whose place another one "
        + "is expected, no more than \(counted(held.body.count, "byte", "bytes")) can be kept.")
  }

  /// Adds that only the beginning of the response to a refused request was kept.
  var keepingBeginningOfResponse: TransferError {
    adding("Only the first \(counted(ResponseTarget.defaultLimit, "byte", "bytes")) of its response were kept.")
  }
}

/// Multipart responses whose parts can't be read.
extension TransferError {
  static func partsMalformed(_ url: HTTPURL, _ error: MultipartError) -> TransferError {
    TransferError(
      error.code == .limitExceeded ? .responseTooLarge : .malformedResponse, on: url.description,
      "The parts of the response from \(url) can't be read: \(error.message)", underlying: error)
  }

  static func partPassed(_ url: HTTPURL) -> TransferError {
    partMisread(url, "a part was read after the next one was asked for: read each part before the next")
  }

  static func partBegun(_ url: HTTPURL) -> TransferError {
    partMisread(url, "a complete part was asked for after it was read, at least in part: read each part once")
  }

  static func partsReadTwice(_ url: HTTPURL) -> TransferError {
    partMisread(url, "two tasks read at the same time: read the parts one after the other")
  }

  private static func partMisread(_ url: HTTPURL, _ what: Message) -> TransferError {
    TransferError(
      MultipartError(
        .parserUsed, on: url.description,
        "The parts of the response from \(url) can't be read in this order: \(what)."))
  }
}

/// Responses that can't be decompressed.
extension TransferError {
  static func coded(as codings: [String], _ url: HTTPURL) -> TransferError {
    undecodable(
      url,
      "is coded as \(codings.joined(separator: ", ").quoted), and only gzip and deflate were asked for"
    )
  }

  static func decompressionNotBegun(_ url: HTTPURL, _ reason: String) -> TransferError {
    undecodable(url, "could not be decompressed: \(reason)")
  }

  static func compressedDataDamaged(_ url: HTTPURL, _ reason: String) -> TransferError {
    undecodable(url, "can't be decompressed: \(reason)")
  }

  static func compressedDataCut(_ url: HTTPURL) -> TransferError {
    undecodable(url, "ends before its compressed data does")
  }

  static func compressedDataMissing(_ url: HTTPURL) -> TransferError {
    undecodable(url, "has none of its compressed data, and doesn't say that it is empty (Content-Length: 0)")
  }

  static func compressedDataFollowed(_ url: HTTPURL) -> TransferError {
    undecodable(url, "has bytes after its compressed data")
  }

  private static func undecodable(_ url: HTTPURL, _ what: String) -> TransferError {
    TransferError(
      .decompressionFailed, on: url.description,
      "The response from \(url) \(what). Ask for it without compression.")
  }
}

/// Responses that can't be stored.
extension TransferError {
  /// The request was carried out, but its last response is not the one that was to be stored.
  static func nothingToStore(_ response: TransferResponse) -> TransferError {
    TransferError(
      .responseNotStored, on: response.url.description,
      "The request was carried out, but no file was stored: the response from \(response.url) has the status "
        + "\(response.status). Download what is missing by itself.")
  }

  static func responseNotStored(
    _ target: ResponseTarget, from url: HTTPURL, _ error: any Error
  ) -> TransferError {
    // The errors of a download say what failed, and what to do.
    if target.isResumableFile, let error = error as? TransferError { return error }
    let destination =
      if case .file(.success(let path)) = target.kind { path.description } else {
        "the response's target"
      }
    return TransferError(
      .responseNotStored, on: destination,
      "The response from \(url) could not be written to \(destination.quoted): \(error).",
      underlying: error)
  }
}
