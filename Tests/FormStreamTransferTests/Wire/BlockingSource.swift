import FormStream
import Foundation
import FormStreamTestSupport

/// A source that returns some bytes, opens a gate, and then blocks until another gate is open.
final class BlockingSource: ByteSource {
  private var left: Int
  private let reached: Gate
  private let goOn: Gate
  private let record: SourceCounts

  init(giving count: Int, reached: Gate, goOn: Gate, record: SourceCounts = SourceCounts()) {
    left = count
    (self.reached, self.goOn, self.record) = (reached, goOn, record)
    record.opened()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    if left == 0 {
      reached.open()
      _ = goOn.wait()
      return 0
    }
    let count = min(left, buffer.count)
    for index in 0..<count { buffer[index] = 7 }
    left -= count
    return count
  }

  func close() { record.closed() }
}

/// How many sources were opened, and how many closed.
final class SourceCounts: @unchecked Sendable {
  private let lock = NSLock()
  private var counts = (opens: 0, closes: 0)

  var opens: Int { lock.withLock { counts.opens } }
  var closes: Int { lock.withLock { counts.closes } }
  /// Whether no source is open.
  var isBalanced: Bool { lock.withLock { counts.opens == counts.closes } }

  func opened() { lock.withLock { counts.opens += 1 } }
  func closed() { lock.withLock { counts.closes += 1 } }
}
