import FormStreamDigest
import FormStreamIntake
import FormStreamPlatform

/// The bytes of a complete upload, which are read from the file that they have arrived in.
struct WholeBody {
  private static let pieceSize = 256 * 1024

  private let whole: PartialUpload.Whole

  init(_ whole: PartialUpload.Whole) {
    self.whole = whole
  }

  /// The digest of all bytes. The bytes are only read if they were not hashed as they arrived.
  func digest() throws -> SHA256Digest? {
    if let digest = whole.digest { return try digest.finalize() }
    let digest = try PartDigest()
    try forEachPiece { try digest.update($0) }
    return try digest.finalize()
  }

  /// Calls `body` with all bytes in order.
  ///
  /// - Throws: `EIO` if the file has become shorter.
  func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Self.pieceSize, alignment: MemoryLayout<UInt>.alignment)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while offset < whole.size {
      let rest = Int(clamping: min(whole.size - offset, Int64(buffer.count)))
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<rest])
      let count = try whole.file.read(into: piece, at: offset)
      guard count > 0 else { throw SystemError.cutShort }
      try body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      offset += Int64(count)
    }
  }
}
