public import FormStreamIntake
public import FormStreamMultipart

/// Stores files in a directory under safe names: never outside of it, and never incomplete.
///
/// While a request arrives, its files have names that begin with `.formstream-`. When the request is complete, each file
/// gets its final name. A request that is refused or breaks off leaves nothing, with two exceptions: the process was
/// killed, or `overwrites` is set and giving the final names failed. In the second case, files that had already replaced
/// others stay, because the replaced files can't be restored. Files that replace nothing are stored first.
public struct DirectoryHandler: UploadHandler {
  private let directory: StorageDirectory
  private let keepsPaths: Bool
  private let overwrites: Bool

  /// Opens the directory.
  ///
  /// - Parameters:
  ///   - path: the directory, as text or as a ``LocalPath``. Its last component is made if it does not exist.
  ///   - keepsPaths: whether directories in file names are kept, each made safe. If false, only the last component of
  ///     a file name is used.
  ///   - overwrites: whether a file may replace another file of the same name. It may only do so if the name is the one
  ///     that was sent, byte for byte, and not a name made safe. If false, the file gets a number instead. If one request
  ///     has two files of the same name, the second one gets a number in both cases.
  ///   - synchronizes: whether an upload is accepted only when its files and their names are on the disk, so that a
  ///     power failure does not lose them.
  public init(
    _ path: some LocalPathConvertible, keepsPaths: Bool = false, overwrites: Bool = false,
    synchronizes: Bool = false
  ) throws(ReceiverError) {
    let path = try Self.localPath(path)
    do throws(StorageError) {
      directory = try StorageDirectory(path, synchronizes: synchronizes)
    } catch {
      throw ReceiverError(
        .directoryUnusable, on: path.description, error.description, underlying: error.underlying)
    }
    self.keepsPaths = keepsPaths
    self.overwrites = overwrites
  }

  private static func localPath(
    _ path: some LocalPathConvertible
  ) throws(ReceiverError) -> LocalPath {
    do throws(MultipartError) {
      return try path.localPath()
    } catch {
      throw ReceiverError(
        .directoryUnusable, on: "the directory", error.description)
    }
  }

  /// True: the system decides whether a name is free, at the moment of storing.
  public var supportsIfNoneMatch: Bool { true }

  /// Accepts every request.
  public func begin(_ request: UploadRequest) -> any Upload {
    StoredUpload(
      directory, keepsPaths: keepsPaths, announcedSize: request.contentLength,
      ifTaken: request.mustBeNew ? .refuse : overwrites ? .replace : .addNumber)
  }
}

private final class StoredUpload: Upload {
  /// The smallest body for which room is reserved. Smaller bodies have arrived before it matters that there is no room for
  /// them.
  private static let smallestReserved = 1024 * 1024

  private let directory: StorageDirectory
  private let keepsPaths: Bool
  /// The length of the complete body; nil if it is not known.
  private let announcedSize: Int64?
  private let conflict: StorageDirectory.NameConflict
  private var parts: [StoredPart] = []

  init(
    _ directory: StorageDirectory, keepsPaths: Bool, announcedSize: Int64?,
    ifTaken conflict: StorageDirectory.NameConflict
  ) {
    self.directory = directory
    self.keepsPaths = keepsPaths
    self.announcedSize = announcedSize
    self.conflict = conflict
  }

  func begin(_ part: PartDescription) throws -> any PartSink {
    // Only the last file of an upload stays open: a form may have thousands.
    try parts.last?.close()
    let part = try StoredPart(part, in: directory, keepingDirectories: keepsPaths)
    // The client learns that the name is taken before it sends the body.
    if conflict == .refuse { try part.checkIsNew() }
    // A client also learns early that its file does not fit. All files of a form together are not larger than the form's
    // body.
    if parts.isEmpty, let announcedSize, announcedSize >= Self.smallestReserved {
      try part.reserve(announcedSize)
    }
    parts.append(part)
    return part
  }

  func end(_ received: [ReceivedPart]) throws {
    try StoredPart.store(parts, in: directory, ifTaken: conflict)
  }
}
