import FormStreamMultipart
import FormStreamTestSupport

/// Pieces of bytes, each of which comes when its gate is open.
final class GatedSource: ByteSource {
  private var pieces: [(gate: Gate, bytes: [UInt8])]

  init(_ pieces: [(gate: Gate, bytes: [UInt8])]) { self.pieces = pieces }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard !pieces.isEmpty else { return 0 }
    let (gate, bytes) = pieces.removeFirst()
    guard gate.wait() else { throw TestError(1) }
    guard !bytes.isEmpty else { return 0 }
    buffer.copyBytes(from: bytes)
    return bytes.count
  }

  func close() {}
}
