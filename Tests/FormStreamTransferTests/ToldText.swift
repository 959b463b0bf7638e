import Foundation

/// What a callback was told, on whatever thread.
final class ToldText: @unchecked Sendable {
  private let lock = NSLock()
  /// Guarded by `lock`.
  private var bytes: [UInt8] = []

  func append(_ more: UnsafeRawBufferPointer) { lock.withLock { bytes += more } }
  func append(_ text: String) { lock.withLock { bytes += text.utf8 } }
  var text: String { lock.withLock { String(decoding: bytes, as: UTF8.self) } }
}
