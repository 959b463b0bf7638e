import FormStreamPlatform

/// A file that is open for reading at any offset. It is closed when the last reference is released.
final class OpenedFile: Sendable {
  let descriptor: Descriptor

  init(_ path: LocalPath, followsSymlinks: Bool) throws(SystemError) {
    descriptor = try Descriptor(reading: path, followsSymlinks: followsSymlinks, mayBlock: false)
  }
}

/// A file that was opened while the form was laid out, kept for its first reader.
final class KeptFile: Sendable {
  private let file: Guarded<OpenedFile?>

  init(_ file: OpenedFile) {
    self.file = Guarded(file)
  }

  /// The file at the first call; nil afterwards.
  func take() -> OpenedFile? {
    file.withLock { file in
      defer { file = nil }
      return file
    }
  }
}
