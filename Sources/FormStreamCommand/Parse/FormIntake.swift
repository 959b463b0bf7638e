import Multipart
import Records
import Storage

/// What is made of a form as it is read: records of its parts, and their files.
final class FormIntake {
  /// The most bytes of one text field that are kept.
  private static let maximumValue = 64 * 1024
  /// The most bytes of all text fields together.
  private static let maximumValues = 16 * 1024 * 1024

  /// The parts that are whole.
  private(set) var parts: [ParsedPartRecord] = []
  /// The part that is being read.
  private(set) var current: PartIntake?

  private let store: FileStore?
  private let isForRecord: Bool
  private var bytesLeft = maximumValues

  /// - Parameter isForRecord: whether digests and headers are wanted.
  init(store: FileStore?, isForRecord: Bool) {
    self.store = store
    self.isForRecord = isForRecord
  }

  func take(_ event: FormParser.Event) throws {
    switch event {
    case .partBegan(let head):
      current = PartIntake(
        head, store: store, digest: isForRecord ? try SHA256() : nil,
        keeping: min(Self.maximumValue, bytesLeft))
    case .partBytes(let bytes):
      try current?.take(bytes)
    case .partEnded:
      guard var record = try current?.finish(index: parts.count) else { break }
      if !isForRecord { record.headers = [] }
      bytesLeft -= record.value?.count ?? 0
      parts.append(record)
      current = nil
    case .formEnded:
      break
    }
  }
}

/// The directory that files go to, and the name that each has until it is whole.
struct FileStore {
  private let directory: StorageDirectory
  private let temporaryName = StorageDirectory.temporaryName()

  init(_ path: LocalPath) throws(Failure) {
    do throws(StorageError) {
      directory = try StorageDirectory(path)
    } catch {
      throw Failure(.inputOutput, error.description)
    }
    removeOnSignal(LocalPath(bytes: path.bytes + [UInt8(ascii: "/")] + temporaryName.bytes))
  }

  /// Parts come one behind the other, so there is one such file at a time.
  func makeFile() throws(StorageError) -> IncomingFile {
    try directory.makeFile(temporaryName: temporaryName)
  }
}
