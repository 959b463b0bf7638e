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
  ///   - path: the directory, as text or as a ``/FormStreamMultipart/LocalPath``. Its last component is made if it does not exist.
  ///   - keepsPaths: whether directories in file names are kept, each made safe. If false, only the last component of
  ///     a file name is used.
  ///   - overwrites: whether a file may replace another file of the same name. A file whose name had to be changed to be safe
  ///     never replaces another: the name must be what the client sent, byte for byte. A file that may not replace another gets
  ///     a number instead. If one request has two files of the same name, the second file always gets a number.
  ///   - synchronizes: whether an upload is accepted only when its files and their names are on the disk, so that a
  ///     power failure does not lose them.
  /// - Throws: `directoryUnusable` if the path is not a directory, or the directory can't be made or opened.
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

  /// True: when a file is stored, the system checks that the name is free.
  public var supportsIfNoneMatch: Bool { true }

  /// Accepts every request.
  public func begin(_ request: UploadRequest) -> any Upload {
    StoredUpload(
      directory, keepsPaths: keepsPaths,
      announcedSize: request.hasArrived ? nil : request.contentLength,
      ifTaken: request.mustBeNew ? .refuse : overwrites ? .replace : .addNumber)
  }
}

private final class StoredUpload: Upload {
  /// The smallest body for which room is reserved. A smaller body arrives so quickly that it is of no use to learn early that
  /// there is no room.
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
    // Room is reserved with the first file, so that the client learns early if its files do not fit. Room for the complete body
    // is enough for all files of a form, because the files are in the body.
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
