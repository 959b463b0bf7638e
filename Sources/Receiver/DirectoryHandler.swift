public import Multipart
import Storage

/// Stores files in a directory, under names that are safe: never outside of it, and never half.
///
/// Until all of a request came, its files have names that begin with `.formstream-`; then each gets its own.
/// A request that is refused or breaks off leaves nothing, but where the process is killed.
public struct DirectoryHandler: UploadHandler {
  private let directory: StorageDirectory
  private let keepsPaths: Bool
  private let overwrites: Bool

  /// - Parameters:
  ///   - path: the directory, whose last component is made where it is not there.
  ///   - keepsPaths: whether directories in file names are kept, each made safe; only the last component
  ///     is, otherwise.
  ///   - overwrites: whether a file may take the place of another of its name; it gets a number, otherwise.
  public init(
    _ path: LocalPath, keepsPaths: Bool = false, overwrites: Bool = false
  ) throws(ReceiverError) {
    do throws(StorageError) {
      directory = try StorageDirectory(path)
    } catch {
      throw ReceiverError(
        .directoryUnusable, on: path.description, error.description, underlying: error.underlying)
    }
    self.keepsPaths = keepsPaths
    self.overwrites = overwrites
  }

  /// Takes any request.
  public func begin(_ request: UploadRequest) -> any Upload {
    StoredUpload(directory, keepsPaths: keepsPaths, overwrites: overwrites)
  }
}

private final class StoredUpload: Upload {
  private let directory: StorageDirectory
  private let keepsPaths: Bool
  private let overwrites: Bool
  private var parts: [StoredPart] = []

  init(_ directory: StorageDirectory, keepsPaths: Bool, overwrites: Bool) {
    self.directory = directory
    self.keepsPaths = keepsPaths
    self.overwrites = overwrites
  }

  func begin(_ part: PartDescription) throws -> any PartSink {
    let path = SafePath(
      filename: part.filename, field: part.name, keepingDirectories: keepsPaths)
    // A browser sends a file without a name and without bytes where no file was chosen.
    let isChosen = part.filename != ""
    let stored = try StoredPart(path, in: directory, isMadeEmpty: isChosen)
    parts.append(stored)
    return stored
  }

  func end() throws {
    for part in parts { try part.store(replacing: overwrites) }
  }
}

/// A file that came, and gets its name when its request is whole.
private final class StoredPart: PartSink {
  private(set) var storedAs: String?

  private let path: SafePath
  private let directory: StorageDirectory
  private var file: IncomingFile?

  init(_ path: SafePath, in directory: StorageDirectory, isMadeEmpty: Bool) throws {
    self.path = path
    self.directory = directory
    if isMadeEmpty { file = try directory.makeFile() }
  }

  func take(_ bytes: UnsafeRawBufferPointer) throws {
    if file == nil { file = try directory.makeFile() }
    try file?.write(bytes)
  }

  func end() throws {
    try file?.close()
  }

  func store(replacing: Bool) throws {
    storedAs = try file?.store(as: path, replacing: replacing).description
    // Its record is kept for longer.
    file = nil
  }
}
