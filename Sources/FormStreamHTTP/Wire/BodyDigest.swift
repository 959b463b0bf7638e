import FormStreamDigest
import FormStreamPlatform

/// The digest of a body that may be sent in several attempts, each of which begins where the server's bytes end.
///
/// Bytes that were hashed before are not hashed again: the source is checked for changes in each attempt, so the bytes are the
/// same. One exchange at a time uses this object.
final class BodyDigest: @unchecked Sendable {
  private var state: SHA256?
  /// How many bytes were hashed, from the start of the body on.
  private(set) var position: Int64 = 0
  private var finished: SHA256Digest?

  init() throws(DigestError) {
    state = try SHA256()
  }

  /// Adds bytes at an offset. If bytes before them were not hashed, there is no digest.
  func add(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DigestError) {
    let skipped = position - offset
    guard skipped >= 0 else { return state = nil }
    guard skipped < bytes.count else { return }
    let rest = UnsafeRawBufferPointer(rebasing: bytes[Int(clamping: skipped)...])
    try state?.update(rest)
    position += Int64(rest.count)
  }

  /// Ends the hashing, and returns the digest.
  func finish() throws(DigestError) -> SHA256Digest? {
    if let state = state.take() { finished = try state.finalize() }
    return finished
  }
}
