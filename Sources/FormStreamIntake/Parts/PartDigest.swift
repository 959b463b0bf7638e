package import FormStreamPlatform
package import FormStreamDigest

/// The SHA-256 of bytes that arrive in pieces. If there are many bytes, the digest is computed on a thread of its own.
package final class PartDigest {
  /// The most bytes that are hashed without another thread. Starting a thread takes about as long as hashing some ten
  /// kilobytes.
  private static let sizeWithoutThread = 1024 * 1024

  private var digest: SHA256?
  private var background: BackgroundDigest?
  private var size = 0

  package init() throws(DigestError) {
    digest = try SHA256()
  }

  package func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) {
    let isSmall = size <= Self.sizeWithoutThread
    size += bytes.count
    if isSmall, size > Self.sizeWithoutThread {
      background = BackgroundDigest(continuing: &digest)
    }
    if let background { background.update(bytes) } else { try digest?.update(bytes) }
  }

  /// Ends the thread, if there is one. The digest can be continued later.
  package func suspend() throws(DigestError) {
    guard let background else { return }
    digest = try background.suspend()
    self.background = nil
    size = 0
  }

  /// The digest of all bytes. This method must be called only once.
  package func finalize() throws(DigestError) -> SHA256Digest? {
    if let background { return try background.finalize() }
    return try digest.take()?.finalize()
  }
}
