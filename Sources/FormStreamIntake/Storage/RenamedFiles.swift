import FormStreamPlatform

/// Remembers which stored files have another name than the one that was sent: a name made safe, or a number. A file that is
/// sent with the name that such a file has got must not replace it.
final class RenamedFiles: Sendable {
  /// When so many files are remembered, all are forgotten. They take some megabytes.
  private static let maximumRemembered = 65_536

  private let files = Guarded<Set<FileKey>>([])

  /// Notes whether a file is renamed. The system gives the identity of a removed file to another one.
  func note(_ file: FileKey, isRenamed: Bool) {
    files.withLock { files in
      guard isRenamed else {
        files.remove(file)
        return
      }
      if files.count >= Self.maximumRemembered { files.removeAll() }
      files.insert(file)
    }
  }

  func contains(_ file: FileKey) -> Bool { files.withLock { $0.contains(file) } }
}
