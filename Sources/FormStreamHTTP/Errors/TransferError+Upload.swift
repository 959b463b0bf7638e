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

  static func nothingAppended(_ url: HTTPURL, _ status: Int, at offset: Int64) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) responds \(status) to bytes of the upload, but has appended none of them: it still has "
        + "\(counted(offset, "byte", "bytes")) (Upload-Offset).")
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

  static func uploadNotCreated(
    _ url: HTTPURL, _ status: Int, by uploadProtocol: UploadProtocol
  ) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) responds \(status), but names no upload that could go on (Location): it seems not to know "
        + "\(uploadProtocol == .tus ? "tus" : "resumable uploads"), and may have stored an empty file. Send the file without "
        + "resumption.")
  }

  static func uploadElsewhere(
    _ url: HTTPURL, _ named: HTTPURL, because obstacle: RedirectObstacle
  ) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) wants the upload to be sent to \(named), and \(obstacle.reason).")
  }

  static let uploadNeedsLength = TransferError(
    .resumptionFailed, on: "the body",
    "By tus, only a body is sent whose length is known, and that can be read more than once: send a file or bytes.")

  static let resumeFileWithoutResumption = TransferError(
    .invalidSetting, on: SettingName.resumeFile.description,
    "\(SettingName.resumeFile) keeps an upload that goes on where it broke: choose a protocol with \(SettingName.resumption).")

  static func resumeFileUnusable(_ path: LocalPath, _ error: SystemError) -> TransferError {
    TransferError(
      .resumeFileUnusable, on: path.description,
      "The resume file \(path.description.quoted) can't be used: \(error). Nothing was sent. Choose another place for it.",
      underlying: error)
  }

  static func resumeFileInUse(_ path: LocalPath) -> TransferError {
    TransferError(
      .resumeFileUnusable, on: path.description,
      "Another process is sending the upload of the resume file \(path.description.quoted): wait until it has ended.")
  }

  static func resumeFileOfOtherUser(_ path: LocalPath) -> TransferError {
    TransferError(
      .resumeFileUnusable, on: path.description,
      "The resume file \(path.description.quoted) belongs to another user, who could send the upload elsewhere: choose a name "
        + "that is free.")
  }

  static func notAResumeFile(_ path: LocalPath) -> TransferError {
    TransferError(
      .resumeFileUnusable, on: path.description,
      "The file \(path.description.quoted) is not a resume file, so it is not changed: choose a name that is free.")
  }

  /// - Parameter file: the file with the data of the other upload; nil if they are not in a file.
  static func otherUpload(_ url: String, in file: LocalPath?) -> TransferError {
    let name = file.map { "The resume file \($0.description.quoted)" } ?? "The data"
    return TransferError(
      .resumptionFailed, on: file?.description ?? url,
      "\(name) belongs to another upload, to \(url.hidingURLSecrets): use it with the same URL, method and form, or choose "
        + "another.")
  }

  static func sourceOfUploadChanged(_ path: LocalPath) -> TransferError {
    TransferError(
      .sourceChanged, on: path.description,
      "The file \(path.description.quoted) has changed since its upload was begun, so the upload can't go on: send it again from "
        + "its start.")
  }

  static func uploadPerhapsSent(_ file: LocalPath?) -> TransferError {
    let remedy: Message = file.map { "remove \($0.description.quoted)" } ?? "send the request without the data"
    return TransferError(
      .resumptionFailed, on: file?.description ?? "the upload",
      "An earlier process may have sent the complete upload before it ended, and the server has named no place to ask: look there, "
        + "and if the upload is missing, \(remedy) and send it again.")
  }

  /// - Parameter length: the length of the body; nil if it is not known.
  static func uploadNotResumable(length: Int64?) -> TransferError {
    TransferError(
      .resumptionFailed, on: "the body",
      length == 0
        ? "An empty body has nothing that could go on: send it without \(SettingName.resumeFile)."
        : "The body can't go on where it broke, because its length is not known, or because it can be read only once: send a "
          + "file, or send it without \(SettingName.resumeFile).")
  }

  static func uploadMetadataName(_ name: String) -> TransferError {
    TransferError(
      .invalidSetting, on: name,
      "The name \(name.quoted) of upload metadata can't be sent: it must have visible ASCII characters only, and no comma.")
  }

  static func uploadLost(_ url: HTTPURL, _ status: Int) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) responds \(status): the server no longer keeps what it has received of the upload.")
  }
}
