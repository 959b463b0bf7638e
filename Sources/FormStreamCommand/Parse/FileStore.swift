import Multipart
import Receiver
import Storage

/// The directory that the files of a form go to. Each has its name when its part is whole, and keeps it where the
/// form is broken further on: a form that was kept in a file can't be asked for again.
final class FileStore: Upload {
  private let directory: StorageDirectory
  /// Parts come one behind the other, so there is one such file at a time.
  private let temporaryName = StorageDirectory.temporaryName()

  init(_ path: LocalPath) throws(Failure) {
    do throws(StorageError) {
      directory = try StorageDirectory(path)
    } catch {
      throw Failure(.inputOutput, error.description)
    }
    removeOnSignal(LocalPath(bytes: path.bytes + [UInt8(ascii: "/")] + temporaryName.bytes))
  }

  func begin(_ part: PartDescription) throws -> any PartSink {
    // A browser sends a file without a name and without bytes where no file was chosen.
    let file = part.filename == "" ? nil : try makeFile()
    let place = SafePath(filename: part.filename, field: part.name, keepingDirectories: false)
    return FilePart(file, for: place, in: self)
  }

  func end() {}

  fileprivate func makeFile() throws(StorageError) -> IncomingFile {
    try directory.makeFile(temporaryName: temporaryName)
  }
}

private final class FilePart: PartSink {
  private(set) var storedAs: String?

  private let place: SafePath
  private let store: FileStore
  private var file: IncomingFile?

  init(_ file: IncomingFile?, for place: SafePath, in store: FileStore) {
    self.file = file
    self.place = place
    self.store = store
  }

  func take(_ bytes: UnsafeRawBufferPointer) throws {
    if file == nil { file = try store.makeFile() }
    try file?.write(bytes)
  }

  func end() throws {
    storedAs = try file?.store(as: place).description
    // Its record is kept for longer.
    file = nil
  }
}
