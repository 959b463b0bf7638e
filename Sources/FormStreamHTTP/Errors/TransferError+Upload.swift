import FormStreamPlatform

/// The failures of an upload that goes on where it broke.
extension TransferError {
  static func offsetMissing(_ url: HTTPURL) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) doesn't say how much of the upload it has (Upload-Offset), so the upload can't go on.")
  }

  static func offsetWentBack(_ url: HTTPURL, to offset: Int64, from confirmed: Int64) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) says that it has \(counted(offset, "byte", "bytes")) of the upload, but has confirmed \(confirmed) before: the "
        + "upload can't go on, because its bytes may be lost.")
  }

  static func offsetBeyondSent(_ url: HTTPURL, _ offset: Int64, sent: Int64) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) says that it has \(counted(offset, "byte", "bytes")) of the upload, but at most \(sent) were sent to it: the "
        + "upload can't go on, because it would be put together from other bytes.")
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
      "\(url) keeps an upload of \(counted(length, "byte", "bytes")), but this one has \(expected): it is another upload.")
  }

  /// Adds what to do about an upload that can't go on, and that was certainly not carried out.
  var sendingUploadAgain: TransferError { adding("Send it again from its start.") }

  static func uploadOfOtherBytes(_ url: HTTPURL, _ count: Int64, of length: Int64) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) responds as to a complete upload, but of \(counted(count, "byte", "bytes")), and this one has \(length).")
  }

  static func uploadWithoutURL(_ url: HTTPURL, _ status: Int) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) responds \(status), and says that the upload is not complete (Upload-Complete: ?0), but names no place where it "
        + "could go on: send it without resumption.")
  }

  static func piecesNotKnown(to url: HTTPURL, of size: Int64, _ length: Int64) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) names no protocol for uploads in pieces, so the \(counted(length, "byte", "bytes")) of the body can't be sent in "
        + "pieces of \(size) (\(SettingName.pieceSize)): leave out the limit, or name the protocol if you know it. Nothing of the "
        + "body was sent.")
  }

  static func metadataNotKnown(to url: HTTPURL) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) doesn't name tus as its protocol for uploads, and only by tus is a server told metadata of an upload "
        + "(\(SettingName.uploadMetadata)): leave them out, or choose tus if you know that the server speaks it. Nothing of the body "
        + "was sent.")
  }

  static func uploadTooLong(_ url: HTTPURL, _ length: Int64, limit: Int64) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) keeps uploads of at most \(counted(limit, "byte", "bytes")), and the body has \(length), so it can only be sent in one "
        + "request.")
  }

  static func digestNotByTus(_ url: HTTPURL) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) names tus as its protocol for uploads, which has no header for the digest of an upload "
        + "(\(SettingName.contentDigest)): leave the digest out, or send the body in one request.")
  }

  static func piecesNeedCreation(of size: Int64, _ length: Int64) -> TransferError {
    TransferError(
      .invalidSetting, on: SettingName.pieceSize.description,
      "By this protocol, the first request has the complete body, here of \(counted(length, "byte", "bytes")), so it can't keep "
        + "to pieces of \(size) (\(SettingName.pieceSize)): leave out the limit, or choose a protocol that creates the upload first."
    )
  }

  /// - Parameter file: the file with the data; nil if they are not in a file.
  static func storedUploadElsewhere(
    _ url: HTTPURL, _ stored: HTTPURL, in file: LocalPath?, because obstacle: RedirectObstacle
  ) -> TransferError {
    let name = file.map { "The resume file \($0.description.quoted)" } ?? "The data"
    return TransferError(
      .resumptionFailed, on: file?.description ?? url.description,
      "\(name) names an upload at \(stored.origin), but the request is for \(url.origin), and \(obstacle.reason).")
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

  static func uploadCompleteAndNot(_ url: HTTPURL, _ status: Int) -> TransferError {
    TransferError(
      .resumptionFailed, on: url.description,
      "\(url) responds \(status) to the complete upload, but says several things about whether the upload is complete, one of "
        + "which is no (Upload-Complete: ?0).")
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

  static let digestByTus = TransferError(
    .invalidSetting, on: SettingName.contentDigest.description,
    "tus has no header for the digest of an upload: leave out \(SettingName.contentDigest), or choose another protocol.")

  static func digestWithoutResumption(_ url: HTTPURL) -> TransferError {
    TransferError(
      .invalidSetting, on: SettingName.contentDigest.description,
      "\(url.origin) speaks only tus, which has no header for the digest of an upload (\(SettingName.contentDigest)): it is sent in "
        + "one request, and can't go on after a break.")
  }

  static let metadataWithoutTus = TransferError(
    .invalidSetting, on: SettingName.uploadMetadata.description,
    "Only tus tells a server metadata of an upload: leave out \(SettingName.uploadMetadata), or choose tus.")

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

  static func resumeFileOpenToOthers(_ path: LocalPath) -> TransferError {
    TransferError(
      .resumeFileUnusable, on: path.description,
      "Other users may write to the resume file \(path.description.quoted), and could send the upload elsewhere: if you trust "
        + "what it says, take that right away from them (chmod 600), or choose a name that is free.")
  }

  static func resumeFileNotWritten(_ path: LocalPath, _ error: SystemError) -> TransferError {
    TransferError(
      .resumeFileUnusable, on: path.description,
      "The next step of the upload can't be noted in the resume file \(path.description.quoted): \(error). So the step was not "
        + "taken: make room, and try again.",
      underlying: error)
  }

  static func notAResumeFile(_ path: LocalPath) -> TransferError {
    TransferError(
      .resumeFileUnusable, on: path.description,
      "The file \(path.description.quoted) is not a resume file, so it is not changed: choose a name that is free.")
  }

  /// - Parameter file: the file with the data of the other upload; nil if they are not in a file.
  static func otherUpload(_ url: String, in file: LocalPath?) -> TransferError {
    let name = file.map { "The resume file \($0.description.quoted)" } ?? "The data"
    // The URL may be secret as a whole.
    let origin = (try? HTTPURL(url))?.origin.description
    return TransferError(
      .resumptionFailed, on: file?.description ?? origin ?? "the upload",
      "\(name) belongs to another upload\(origin.map { ", to \($0)" } ?? ""): use it with the same URL, method and form, or choose "
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
      "An earlier process may have sent the complete upload before it ended, and the server can't be asked about it, because it has "
        + "named no place to ask, or no longer keeps the upload: look there, and if the upload is missing, \(remedy) and send it again."
    )
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

/// Why a body can't be sent in one request, although the server's protocol for uploads can't be used.
extension Message {
  static let onlyTusTellsMetadata: Message =
    "But then the server would not be told the metadata (\(SettingName.uploadMetadata)): leave them out. Nothing of the body was sent."

  static func piecesNeedProtocol(of size: Int64) -> Message {
    "But then its pieces would be longer than \(size) (\(SettingName.pieceSize)): leave out the limit. Nothing of the body was sent."
  }
}
