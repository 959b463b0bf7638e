public import FormStreamMultipart

/// A complete file that was downloaded.
public struct DownloadedFile: Sendable {
  /// The path, with the name that the file got.
  public let path: LocalPath
  /// The size in bytes.
  public let size: Int64
  /// The SHA-256 digest of the file's bytes, as 64 hexadecimal digits; nil unless ``DownloadSettings/computesDigest`` or
  /// ``DownloadSettings/expectedSHA256`` is set.
  public let sha256: SHA256Digest?
  /// How many bytes of the file an earlier download had left; 0 if the file was requested from its beginning.
  public let resumedFrom: Int64
  /// Whether the server said where the file ends: by a length, by chunks, by frames, or by the end of encryption.
  ///
  /// If not, the end of the connection was the end of the file, as with HTTP/1.0, and a broken connection looks the same. Then
  /// only an expected digest can show that the file is complete.
  public let isEndKnown: Bool
  /// The last response, without its body.
  public let response: TransferResponse

  /// Creates a file that was downloaded, for tests of code that handles one.
  public init(
    _ path: some LocalPathConvertible, size: Int64, sha256: SHA256Digest? = nil,
    resumedFrom: Int64 = 0, isEndKnown: Bool = true, response: TransferResponse
  ) throws(MultipartError) {
    self.init(
      path: try path.localPath(), size: size, sha256: sha256, resumedFrom: resumedFrom,
      isEndKnown: isEndKnown, response: response)
  }

  init(_ stored: ResumableFile.Stored, resumedFrom: Int64, _ response: TransferResponse) {
    self.init(
      path: stored.path, size: stored.size, sha256: stored.sha256, resumedFrom: resumedFrom,
      isEndKnown: !response.hasUnknownEnd, response: response)
  }

  init(
    path: LocalPath, size: Int64, sha256: SHA256Digest?, resumedFrom: Int64, isEndKnown: Bool,
    response: TransferResponse
  ) {
    self.path = path
    self.size = size
    self.sha256 = sha256
    self.resumedFrom = resumedFrom
    self.isEndKnown = isEndKnown
    self.response = response
  }
}

/// The result of a download.
public struct DownloadResult: Sendable {
  /// The outcome and the error of the download, the attempts of all its requests, and the last response.
  ///
  /// The outcome is `ok` only if the file has its final name and contains one complete version of the resource.
  public let transfer: TransferResult
  /// The file; nil unless the outcome is `ok`. It is also nil if the server responded 304, and 304 is one of
  /// ``TransferOptions/acceptedStatuses``: nothing was stored then.
  public let file: DownloadedFile?
  /// How many bytes of the file arrived in this download, including the bytes that arrived before a restart.
  public let received: Int64
  /// How many bytes of the last response's body arrived that are no part of the file, such as the body of a refusal.
  package let unstored: Int64
  /// How often the download was started again from the beginning: because the resource had changed, or because the server
  /// doesn't continue downloads.
  public let restarts: Int
  /// The path of the partial file that was left; nil if there is none.
  public let partialFile: LocalPath?
  /// The data that a later download needs to continue; nil if the file is complete, or if the server sent nothing by which the
  /// file's version can be recognized.
  public let resumeData: DownloadResumeData?

  /// Whether the download succeeded, and if not, whether it may succeed later.
  public var outcome: TransferResult.Outcome { transfer.outcome }
  /// Why the outcome is not `ok`.
  public var error: TransferError? { transfer.error }
  /// The tag of the request; see ``TransferRequest/tag``.
  public var tag: (any Sendable)? { transfer.tag }
}

extension DownloadResult {
  /// Creates a result, for tests of code that handles one.
  ///
  /// - Parameters:
  ///   - transfer: the outcome, the error and the last response.
  ///   - file: the file; nil unless the outcome is `ok`.
  public init(_ transfer: TransferResult, file: DownloadedFile? = nil) {
    self.init(
      transfer: transfer, file: file, received: file?.size ?? 0, unstored: 0, restarts: 0,
      partialFile: nil, resumeData: nil)
  }

  /// The file of a download that succeeded.
  func confirmedFile() throws -> DownloadedFile {
    guard let file else {
      if outcome == .ok, let response = transfer.response {
        throw TransferError.notChanged(transfer.url).ending(as: .ok, response)
      }
      try transfer.fail()
    }
    return file
  }
}
