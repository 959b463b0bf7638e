import FormStreamPlatform

/// A file that is open for reading, at any place: whoever holds it may share it. It is closed when nobody
/// does.
final class OpenedFile: Sendable {
  let descriptor: Descriptor

  init(_ path: LocalPath, followsSymlinks: Bool) throws(SystemError) {
    descriptor = try Descriptor(reading: path, followsSymlinks: followsSymlinks, mayBlock: false)
  }
}

/// A file that was opened to be looked at, and waits for the first who reads it.
final class KeptFile: Sendable {
  private let file: Guarded<OpenedFile?>

  init(_ file: OpenedFile) {
    self.file = Guarded(file)
  }

  /// The file, once.
  func take() -> OpenedFile? {
    file.withLock { file in
      defer { file = nil }
      return file
    }
  }
}
