import FormStreamPlatform

/// A file that is open for reading at any offset. It is closed when the last reference is released.
final class OpenedFile: Sendable {
  let descriptor: Descriptor

  init(_ path: LocalPath, followsSymlinks: Bool) throws(SystemError) {
    descriptor = try Descriptor(reading: path, followsSymlinks: followsSymlinks, mayBlock: false)
  }

  /// Becomes the owner of an open descriptor.
  init(adopting number: Int32) {
    descriptor = Descriptor(adopting: number)
  }
}

/// A file that was opened before or while the form was laid out, kept for its first reader or for all its readers.
final class KeptFile: Sendable {
  private let file: Guarded<OpenedFile?>
  private let isForAllReaders: Bool

  init(_ file: OpenedFile, forAllReaders isForAllReaders: Bool = false) {
    self.file = Guarded(file)
    self.isForAllReaders = isForAllReaders
  }

  /// The file; nil if it was kept for the first reader and this is not the first call.
  func take() -> OpenedFile? {
    file.withLock { file in
      defer { if !isForAllReaders { file = nil } }
      return file
    }
  }
}
