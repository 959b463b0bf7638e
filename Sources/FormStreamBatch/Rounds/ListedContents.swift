import FormStreamMultipart
import FormStreamPlatform

/// Compares a listed file with versions that earlier rounds know. The digest is computed only if it is needed.
struct ListedContents {
  private let file: BatchFile
  private let isCompared: Bool
  private var digest: SHA256Digest?
  /// Whether the last comparison was by size and time, because the digest of the other version is not known.
  private(set) var isUncompared = false
  /// Why the contents could not be read to compare them; nil if they could, or if nothing had to be read.
  private(set) var problem: BatchError?

  /// - Parameter isCompared: whether digests are compared, if they are known.
  init(_ file: BatchFile, isCompared: Bool) {
    (self.file, self.isCompared) = (file, isCompared)
  }

  /// Whether the file is that version, and can be sent.
  mutating func are(_ version: KnownFile.Version?) -> Bool {
    guard let version, file.problem == nil, problem == nil, file.size == version.size else { return false }
    guard isCompared else { return file.modified == version.modified }
    isUncompared = version.sha256 == nil
    guard let known = version.sha256 else { return file.modified == version.modified }
    return have(known)
  }

  /// Whether the file is certainly a version that was sent, although it was not there meanwhile. Another file can have the same
  /// size and time. But a file that was not changed or moved since before the sending is the file that was sent.
  mutating func areCertainly(_ sent: KnownFile?) -> Bool {
    guard let sent, let version = sent.version, are(version) else { return false }
    if let changed = file.identity?.changedNanoseconds, changed < sent.period.first { return true }
    return version.sha256.map { have($0) } ?? false
  }

  private mutating func have(_ known: SHA256Digest) -> Bool {
    do throws(BatchError) {
      if digest == nil { digest = try OpenedBatchFile.digest(of: file) }
    } catch {
      problem = error
      return false
    }
    return digest == known
  }
}
