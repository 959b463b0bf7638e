// The only file of this module that calls zlib's encoder.

import CFormStreamZlib

/// Compresses bytes to the gzip format (RFC 1952).
///
/// The same bytes are compressed to the same bytes each time, whatever the size of the pieces: the header has no time and no
/// name.
struct Deflater: ~Copyable {
  /// zlib's state points back to this structure, so the structure must not move.
  private let stream: UnsafeMutablePointer<z_stream>

  /// Nil if there is not enough memory.
  ///
  /// C: `deflateInit2`
  init?() {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard formstream_deflate_init_gzip(stream) == Z_OK else {
      stream.deallocate()
      return nil
    }
  }

  /// C: `deflateEnd`
  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Compresses as much of `input` as fits into `output`.
  ///
  /// - Parameter isLast: whether nothing follows `input`.
  /// - Returns: how many bytes of `input` were used, how many of `output` were written, and whether the output is
  ///   complete.
  ///
  /// C: `deflate`
  mutating func compress(
    _ input: UnsafeRawBufferPointer, isLast: Bool, into output: UnsafeMutableRawBufferPointer
  ) -> (used: Int, written: Int, isComplete: Bool) {
    let (inputCount, outputCount) = (UInt32(clamping: input.count), UInt32(clamping: output.count))
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.baseAddress?.assumingMemoryBound(to: Bytef.self))
    stream.pointee.avail_in = inputCount
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
    stream.pointee.avail_out = outputCount
    let isEnd = isLast && Int(inputCount) == input.count
    let status = deflate(stream, isEnd ? Z_FINISH : Z_NO_FLUSH)
    return (
      Int(inputCount - stream.pointee.avail_in), Int(outputCount - stream.pointee.avail_out),
      status == Z_STREAM_END
    )
  }
}
