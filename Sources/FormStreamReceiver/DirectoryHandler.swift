public import FormStreamIntake
public import FormStreamMultipart

/// Stores files in a directory, under names that are safe: never outside of it, and never half.
///
/// Until all of a request came, its files have names that begin with `.formstream-`; then each gets its own.
/// A request that is refused or breaks off leaves nothing, but where the process is killed; and with `overwrites`,
/// where one of its files can't have its name though all was well until then: what took the place of another file
/// before that stays, for the other can't be had back. Those that take no file's place come first.
public struct DirectoryHandler: UploadHandler {
  private let directory: StorageDirectory
  private let keepsPaths: Bool
  private let overwrites: Bool

  /// - Parameters:
  ///   - path: the directory, whose last component is made where it is not there.
  ///   - keepsPaths: whether directories in file names are kept, each made safe; only the last component
  ///     is, otherwise.
  ///   - overwrites: whether a file may take the place of another of its name; it gets a number, otherwise,
  ///     as does the second of two that come with one request.
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
  private var stored: [StoredPart] = []

  init(_ directory: StorageDirectory, keepsPaths: Bool, overwrites: Bool) {
    self.directory = directory
    self.keepsPaths = keepsPaths
    self.overwrites = overwrites
  }

  func begin(_ part: PartDescription) throws -> any PartSink {
    let part = try StoredPart(part, in: directory, keepingDirectories: keepsPaths)
    stored.append(part)
    return part
  }

  func end(_ parts: [ReceivedPart]) throws {
    try StoredPart.store(stored, in: directory, replacing: overwrites)
  }
}
