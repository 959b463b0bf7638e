import FormStreamIntake
import FormStreamMultipart

/// The directory that the files of a form are stored in. Each file gets its name when its part is complete. It keeps
/// the name even if a later part of the form is malformed, because a form that was saved in a file can't be sent again.
final class FileStore: Upload {
  private let directory: StorageDirectory
  /// Parts come one after the other, so one temporary file exists at a time.
  private let temporaryName = FileName.temporary()

  init(_ path: LocalPath) throws(Failure) {
    do throws(StorageError) {
      directory = try StorageDirectory(path)
    } catch {
      throw .unusableDirectory(path, cause: error.underlying, description: error.description)
    }
    removeOnSignal(LocalPath(bytes: path.bytes + [UInt8(ascii: "/")] + temporaryName.bytes))
  }

  func begin(_ part: PartDescription) throws -> any PartSink {
    try StoredPart(part, in: directory, temporaryName: temporaryName, isStoredAtEnd: true)
  }

  func end(_ parts: [ReceivedPart]) {}
}
