import FormStreamPlatform
import FormStreamDigest

/// The digest of bytes that are still being written.
final class RunningDigest {
  private var digest: SHA256?

  init() throws(DigestError) { digest = try SHA256() }

  func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) { try digest?.update(bytes) }

  /// The digest of all bytes. It can be asked for only once.
  func finalize() throws(DigestError) -> SHA256Digest? { try digest.take()?.finalize() }
}
