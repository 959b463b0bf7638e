import FormStreamPlatform

/// The failures of an upload that goes on where it broke.
extension TransferError {
  static func offsetMissing(_ url: HTTPURL) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) doesn't say how much of the upload it has (Upload-Offset), so the upload can't go on: send it again from its "
        + "start.")
  }

  static func offsetWentBack(_ url: HTTPURL, to offset: Int64, from confirmed: Int64) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) says that it has \(counted(offset, "byte", "bytes")) of the upload, but has confirmed \(confirmed) before: the "
        + "upload can't go on, because its bytes may be lost. Send it again from its start.")
  }

  static func offsetBeyondSent(_ url: HTTPURL, _ offset: Int64, sent: Int64) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) says that it has \(counted(offset, "byte", "bytes")) of the upload, but at most \(sent) were sent to it: the "
        + "upload can't go on, because it would be put together from other bytes. Send it again from its start.")
  }

  static func uploadHasOtherLength(
    _ url: HTTPURL, _ length: Int64, insteadOf expected: Int64
  ) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) keeps an upload of \(counted(length, "byte", "bytes")), but this one has \(expected): it is another upload. Send "
        + "this one again from its start.")
  }

  static func uploadEndedEarly(_ url: HTTPURL, at offset: Int64, of length: Int64) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) says that the upload is complete, but it has only \(offset) of \(counted(length, "byte", "bytes")).")
  }

  static func uploadNotCompleted(_ url: HTTPURL, _ status: Int) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) responds \(status) to the complete upload, but doesn't say that the upload is complete (Upload-Complete: ?1).")
  }

  static func uploadLost(_ url: HTTPURL, _ status: Int) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) responds \(status): the server no longer keeps what it has received of the upload.")
  }
}
