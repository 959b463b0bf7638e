public import FormStreamMultipart

/// The data that continues a download that was cancelled or failed: in this process, or in another one if the data was stored.
///
/// ```swift
/// if let data = await download.cancelKeepingData() { try JSONEncoder().encode(data).write(to: place) }
/// // Later:
/// let data = try JSONDecoder().decode(DownloadResumeData.self, from: Data(contentsOf: place))
/// let download = try session.startDownload(resuming: data)
/// ```
///
/// The bytes themselves are in a file beside the destination, `NAME.part`. The file `NAME.part.json` describes the version of
/// the bytes. If these files are gone, or the resource has changed, the download starts again.
///
/// The data contains the URL with its query, but no headers and no credentials.
public struct DownloadResumeData: Codable, Hashable, Sendable {
  /// The URL of the request, as text; it may contain secrets, in its query or elsewhere.
  public let url: String
  /// The path of the partial file.
  public var partialFile: LocalPath { LocalPath(bytes: partialFileBytes) }
  /// How many bytes the partial file has.
  public let received: Int64
  /// How many bytes the file will have; nil if the server didn't say.
  public let total: Int64?

  let partialFileBytes: [UInt8]
  let destination: [UInt8]
  let nameSource: DownloadDestination.NameSource?
  let existingFile: DownloadDestination.ExistingFile
  let expectedSHA256: SHA256Digest?
  let computesDigest: Bool
  let synchronizes: Bool

  /// The settings that continue the download. They may be changed before the download is started.
  public var settings: DownloadSettings {
    let path = LocalPath(bytes: destination)
    var settings = DownloadSettings(
      nameSource.map { .directory(path, named: $0, ifTaken: existingFile) }
        ?? .file(path, ifTaken: existingFile))
    settings.partialName = partialFile.lastComponentBytes
    (settings.expectedSHA256, settings.computesDigest, settings.synchronizes) = (
      expectedSHA256, computesDigest, synchronizes
    )
    return settings
  }

  init?(
    _ url: HTTPURL, _ partialFile: LocalPath, _ received: Int64, _ total: Int64?,
    _ settings: DownloadSettings
  ) {
    switch settings.destination.place {
    case .success(.file(let path)): (destination, nameSource) = (path.bytes, nil)
    case .success(.directory(let path, let source)):
      (destination, nameSource) = (path.bytes, source)
    case .failure: return nil
    }
    (self.url, self.received, self.total) = (url.absoluteString, received, total)
    (partialFileBytes, existingFile) = (partialFile.bytes, settings.destination.existingFile)
    (expectedSHA256, computesDigest, synchronizes) = (
      settings.expectedSHA256, settings.computesDigest, settings.synchronizes
    )
  }
}
