import FormStreamMultipart
import FormStreamIntake

/// The directory that the files of a form go to. Each has its name when its part is whole, and keeps it where the
/// form is broken further on: a form that was kept in a file can't be asked for again.
final class FileStore: Upload {
  private let directory: StorageDirectory
  /// Parts come one behind the other, so there is one such file at a time.
  private let temporaryName = FileName.temporary()

  init(_ path: LocalPath) throws(Failure) {
    do throws(StorageError) {
      directory = try StorageDirectory(path)
    } catch {
      throw .unusable(path, error.underlying, said: error.description)
    }
    removeOnSignal(LocalPath(bytes: path.bytes + [UInt8(ascii: "/")] + temporaryName.bytes))
  }

  func begin(_ part: PartDescription) throws -> any PartSink {
    try StoredPart(part, in: directory, temporaryName: temporaryName, isStoredAtEnd: true)
  }

  func end(_ parts: [ReceivedPart]) {}
}
