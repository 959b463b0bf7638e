import FormStreamDigest
public import FormStreamPlatform

/// How a file is downloaded.
///
/// ```swift
/// var settings = DownloadSettings(.file("film.mp4", ifTaken: .refuse))
/// settings.expectedSHA256 = SHA256Digest("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
/// ```
public struct DownloadSettings: Sendable {
  /// Where the file is stored.
  public var destination: DownloadDestination
  /// Whether to continue a partial file that an earlier download of the same URL has left. If not, the download starts again,
  /// and replaces that partial file.
  ///
  /// A partial file is continued only if it can be proven to be of the version that the server has now. Within one download, a
  /// response that is cut short is always continued.
  public var resumesPartialFile = true
  /// The SHA-256 digest of the complete file. A file with another digest is removed, and the
  /// download fails with `digest-mismatch`.
  public var expectedSHA256: SHA256Digest?
  /// Whether the file is hashed while it is written; see ``DownloadedFile/sha256``. If a digest is expected, the file is always
  /// hashed.
  public var computesDigest = false
  /// Whether the file and its name are on the disk when the download ends, so that the file survives a power failure.
  public var synchronizes = true

  /// Whether the bytes that have arrived are kept if the download fails.
  package var keepsPartialFile = true
  /// Whether a name that is taken gets a number at its end, as in curl: `photo.jpg.1`.
  package var numbersAtEnd = false

  /// The name of the partial file to continue; nil to look for one.
  var partialName: [UInt8]?

  /// Creates settings: a partial file that was left is continued, and the file is written to the disk.
  public init(_ destination: DownloadDestination) {
    self.destination = destination
  }

  var needsDigest: Bool { computesDigest || expectedSHA256 != nil }

  func check() throws(TransferError) {
    if case .success(.directory(_, .server)) = destination.place,
      destination.existingFile == .replace
    {
      throw .downloadReplacesUnknownName
    }
  }
}
