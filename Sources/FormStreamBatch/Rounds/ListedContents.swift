import FormStreamPlatform

/// Compares a listed file with versions that earlier rounds know. The digest is computed only if it is needed.
struct ListedContents {
  private let file: BatchFile
  private let isCompared: Bool
  private var digest: SHA256Digest?
  /// Whether the last comparison was by size and time, because the digest of the other version is not known.
  private(set) var isUncompared = false

  /// - Parameter isCompared: whether digests are compared, if they are known.
  init(_ file: BatchFile, isCompared: Bool) {
    (self.file, self.isCompared) = (file, isCompared)
  }

  /// Whether the file is that version, and can be sent.
  mutating func are(_ version: KnownFile.Version?) -> Bool {
    guard let version, file.problem == nil, file.size == version.size else { return false }
    guard isCompared else { return file.modified == version.modified }
    isUncompared = version.sha256 == nil
    guard let known = version.sha256 else { return file.modified == version.modified }
    // A file that can't be read counts as changed, so that the run says what is wrong.
    if digest == nil { digest = try? OpenedBatchFile.digest(of: file) }
    return digest == known
  }
}
