import FormStreamMultipart
import FormStreamPlatform

extension TransferError {
  /// The destination can't be used, so nothing was requested.
  static func notDownloadable(to destination: LocalPath, _ error: SystemError) -> TransferError {
    let what = destination.description
    if error == .alreadyExists {
      return TransferError(
        .destinationExists, on: what,
        "A download can't replace \(what.quoted), which is not a regular file: choose another name.",
        underlying: error)
    }
    return TransferError(
      .responseNotStored, on: what,
      "A download can't be stored at \(what.quoted): \(error). Name a file in a directory that exists and is writable.",
      underlying: error)
  }

  static func downloadNotStored(
    _ path: LocalPath, from url: HTTPURL, _ error: any Error
  ) -> TransferError {
    let remedy =
      (error as? SystemError)?.isOutOfSpace == true
      ? "Make room, and download it again: what is there is continued if that is possible."
      : "Check the disk and the directory, and download it again."
    return TransferError(
      .responseNotStored, on: path.description,
      "The download of \(url) could not be stored in \(path.description.quoted): \(error). \(remedy)",
      underlying: error)
  }

  /// Another program changed the partial file while the download was written to it.
  static func partialFileChanged(_ path: LocalPath) -> TransferError {
    TransferError(
      .responseNotStored, on: path.description,
      "The partial file \(path.description.quoted) was cut, appended to, moved or removed by another program: end that "
        + "program, and download it again.")
  }

  static func nameNotSynchronized(
    _ path: LocalPath, from url: HTTPURL, _ error: SystemError
  ) -> TransferError {
    TransferError(
      .responseNotStored, on: path.description,
      "The download of \(url) is complete, and is \(path.description.quoted) now, but this name could not be written to the "
        + "disk (\(error)): after a failure of the power, what had the name before may be there. Check the disk.",
      underlying: error)
  }

  static func destinationExists(_ path: LocalPath) -> TransferError {
    TransferError(
      .destinationExists, on: path.description,
      "The download can't be stored as \(path.description.quoted), because the name is taken: choose another name, or "
        + "allow to replace the file.")
  }

  static func digestMismatch(
    _ url: HTTPURL, _ expected: SHA256Digest, _ found: SHA256Digest?
  ) -> TransferError {
    TransferError(
      .digestMismatch, on: url.description,
      "The download of \(url) has the SHA-256 digest \(found?.description ?? "none"), and \(expected) was expected. It was removed."
    )
  }

  static func contradictoryLength(
    _ url: HTTPURL, _ before: Int64, _ now: Int64
  ) -> TransferError {
    TransferError(
      .malformedResponse, on: url.description,
      "The server at \(url) contradicts itself: one version of the file had \(counted(before, "byte", "bytes")) before, and has \(now) now. "
        + "Nothing was stored: begin the download again, without what is there.")
  }

  static func contradictoryUnchanged(_ url: HTTPURL) -> TransferError {
    TransferError(
      .malformedResponse, on: url.description,
      "The server at \(url) contradicts itself: it sent a part of the file before, and says now that the file has not changed "
        + "(304). Nothing was stored: begin the download again.")
  }

  /// A download that ended without a file and without an error.
  static func notChanged(_ url: HTTPURL) -> TransferError {
    TransferError(
      .statusRefused, on: url.description,
      "The server at \(url) responded 304: the file has not changed, and was not downloaded.")
  }

  static func unwantedRange(_ url: HTTPURL) -> TransferError {
    TransferError(
      .malformedResponse, on: url.description,
      "The server at \(url) responded with a range (206), which it was not asked for.")
  }

  static func rangeTooShort(_ url: HTTPURL, _ size: Int64, of end: Int64) -> TransferError {
    TransferError(
      .connectionLost, on: url.description,
      "The response from \(url) ended at byte \(size), and announced those up to \(end).")
  }

  /// The server sends fewer bytes at once than it is asked for, and the time for further attempts is over.
  static func downloadOverdue(
    _ url: HTTPURL, _ size: Int64, of total: Int64, _ limit: Duration
  ) -> TransferError {
    TransferError(
      .timedOut, on: url.description,
      "The server at \(url) sent a shorter part than it was asked for, so that \(size) of \(total) bytes are there, and no "
        + "attempt begins later than \(limit.inSeconds) after the first (\(SettingName.retryTimeLimit))."
    )
  }

  static let downloadOfOtherThanGET = notADownload("only a GET without a body can be one")

  static let downloadOfHEAD = notADownload("the response to a HEAD has no body; send a GET")

  static let downloadDecompressed = notADownload(
    "a file that is decompressed can't be continued; use a target for the response")

  static func downloadWithHeader(_ name: String) -> TransferError {
    notADownload("a download chooses the header \(name) itself; leave it out")
  }

  static let downloadWithoutStoredResponse = notADownload("its response was not stored")

  static let downloadReplacesUnknownName = TransferError(
    .invalidSetting, on: "destination",
    "A download can't replace a file whose name the server chooses: refuse names that are taken, or number them."
  )

  /// Adds what is kept of a download that failed.
  func leaving(_ size: Int64, in path: LocalPath) -> TransferError {
    adding(
      "\(counted(size, "byte is", "bytes are")) in \(path.description.quoted): download it again to continue."
    )
  }

  private static func notADownload(_ reason: String) -> TransferError {
    TransferError(
      .invalidSetting, on: "the download", "The request can't be a download: \(reason).")
  }
}
