import Foundation

/// The text that a callback received, on any thread.
final class ReceivedText: @unchecked Sendable {
  private let lock = NSLock()
  /// Guarded by `lock`.
  private var bytes: [UInt8] = []

  func append(_ more: UnsafeRawBufferPointer) { lock.withLock { bytes += more } }
  func append(_ text: String) { lock.withLock { bytes += text.utf8 } }
  var text: String { lock.withLock { String(decoding: bytes, as: UTF8.self) } }
}
