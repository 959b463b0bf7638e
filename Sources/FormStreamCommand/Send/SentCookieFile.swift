import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform

/// Whether the file of `-c` is among the files that are sent. Files that lists and manifests name are known only when
/// the lists and manifests are read.
final class SentCookieFile: Sendable {
  private let path: LocalPath?
  private let file: FileAtPath?
  private let isSent = Guarded(false)

  /// - Parameter path: the file of `-c`; nil if there is none.
  init(_ path: LocalPath?) {
    self.path = path
    file = path.flatMap { exists($0) ? FileAtPath(at: $0) : nil }
  }

  /// Checks a file that is to be sent, and returns it.
  func note(_ sent: BatchFile?) -> BatchFile? {
    if let file, let sent, FileAtPath(at: sent.path) == file { isSent.withLock { $0 = true } }
    return sent
  }

  /// Fails if the file of `-c` was sent.
  func check() throws(Failure) {
    guard let path, isSent.withLock(\.self) else { return }
    throw Failure(
      .inputOutput,
      "-c would replace the file \"\(path)\", which was sent: the cookies are not saved. Choose another name."
    )
  }
}
