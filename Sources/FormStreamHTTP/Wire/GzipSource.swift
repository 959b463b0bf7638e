import FormStreamMultipart

/// Reads a body, and compresses it.
final class GzipSource: ByteSource {
  /// Why the uncompressed body could not be read.
  struct Failure: Error {
    let error: MultipartError
  }

  private static let pieceSize = 64 * 1024

  private let reader: BodyReader
  private var deflater: Deflater
  private let piece: UnsafeMutableRawBufferPointer
  /// The part of the piece that is not compressed yet.
  private var rest = 0..<0
  private var hasReadEnd = false
  private var isComplete = false

  init(_ body: BodyLayout) throws(TransferError) {
    guard let deflater = Deflater() else { throw .notCompressible }
    self.deflater = deflater
    reader = body.makeReader()
    piece = .allocate(byteCount: Self.pieceSize, alignment: 16)
  }

  deinit { piece.deallocate() }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while !isComplete {
      if rest.isEmpty, !hasReadEnd {
        do throws(MultipartError) {
          rest = 0..<(try reader.read(into: piece))
        } catch {
          throw Failure(error: error)
        }
        hasReadEnd = rest.isEmpty
      }
      let (used, written, isComplete) = deflater.compress(
        UnsafeRawBufferPointer(rebasing: piece[rest]), isLast: hasReadEnd, into: buffer)
      rest = rest.lowerBound + used..<rest.upperBound
      self.isComplete = isComplete
      if written > 0 { return written }
    }
    return 0
  }

  func interrupt() { reader.interrupt() }
  func close() { reader.close() }
}
