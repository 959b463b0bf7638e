import FormStreamPlatform

/// Remembers which stored files have a different name from the name that was sent: a name made safe, or a name with a number.
/// If a file is later sent with the name of such a renamed file, it must not replace the renamed file.
final class RenamedFiles: Sendable {
  /// When this many files are remembered, all files are forgotten. This many take some megabytes.
  private static let maximumRemembered = 65_536

  private let files = Guarded<Set<FileKey>>([])

  /// Notes whether a file is renamed. Files that are not renamed are noted too, because the system may give the identity of
  /// a removed file to a new file.
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
