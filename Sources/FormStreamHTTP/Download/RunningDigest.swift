import FormStreamDigest

/// The digest of bytes that are still being written.
final class RunningDigest {
  private var digest: SHA256?

  init() throws(DigestError) { digest = try SHA256() }

  func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) { try digest?.update(bytes) }

  /// The digest of all bytes as text. It can be asked for once.
  func finalize() throws(DigestError) -> String? { try digest.take()?.finalize().description }
}
