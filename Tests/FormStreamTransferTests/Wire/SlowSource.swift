import FormStream
import Foundation

/// A source that waits before each piece.
final class SlowSource: ByteSource {
  private var left: Int
  private let pause: Duration

  init(_ count: Int, pause: Duration) {
    left = count
    self.pause = pause
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let (seconds, attoseconds) = pause.components
    if pause > .zero { Thread.sleep(forTimeInterval: Double(seconds) + Double(attoseconds) / 1e18) }
    let count = min(buffer.count, left, 64 * 1024)
    UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]).initializeMemory(
      as: UInt8.self, repeating: 7)
    left -= count
    return count
  }

  func close() {}
}
