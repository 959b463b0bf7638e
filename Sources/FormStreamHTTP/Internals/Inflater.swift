// The only file of this module that calls zlib's decoder.

import CFormStreamZlib

/// Decodes gzip (RFC 1952), zlib's format (RFC 1950) or bare deflate (RFC 1951), piece by piece into buffers of any size.
///
/// It is not bound to a thread, but only one thread may use it at a time.
final class Inflater: @unchecked Sendable {
  /// How far the decoder is after a step.
  enum Progress {
    /// The decoder needs more bytes, or more room.
    case within
    /// A member has ended.
    case atEnd
  }

  /// The format around the compressed data.
  enum Format {
    /// A header and a checksum of gzip.
    case gzip
    /// A header and a checksum of zlib.
    case zlib
    /// Nothing.
    case raw

    /// The largest window, in zlib's notation.
    fileprivate var windowBits: CInt {
      switch self {
      case .gzip: MAX_WBITS + 16
      case .zlib: MAX_WBITS
      case .raw: -MAX_WBITS
      }
    }
  }

  /// Why bytes can't be decoded.
  struct Failure: Error {
    let reason: String
  }

  // zlib keeps a pointer to this structure, so it must not move.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

  /// C: `inflateInit2`
  init(_ format: Format) throws(Failure) {
    stream.initialize(to: z_stream())
    guard formstream_inflate_init(stream, format.windowBits) == Z_OK else {
      stream.deallocate()
      throw Failure(reason: "there is no memory for the decoder")
    }
  }

  /// C: `inflateEnd`
  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Decodes as many bytes as there are, or as there is room for.
  ///
  /// - Parameters:
  ///   - coded: the bytes to decode. Decoded bytes are removed from it. If `coded` and `room` are both empty afterwards, the
  ///     decoder may still have bytes that didn't fit.
  ///   - room: the space for decoded bytes. Filled bytes are removed from it.
  ///
  /// C: `inflate`
  func decode(
    _ coded: inout UnsafeRawBufferPointer, into room: inout UnsafeMutableRawBufferPointer
  ) throws(Failure) -> Progress {
    let input = UnsafeRawBufferPointer(rebasing: coded.prefix(Int(UInt32.max)))
    let output = UnsafeMutableRawBufferPointer(rebasing: room.prefix(Int(UInt32.max)))
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.baseAddress?.assumingMemoryBound(to: Bytef.self))
    stream.pointee.avail_in = uInt(input.count)
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
    stream.pointee.avail_out = uInt(output.count)
    let status = inflate(stream, Z_NO_FLUSH)
    coded = UnsafeRawBufferPointer(
      rebasing: coded.dropFirst(input.count - Int(stream.pointee.avail_in)))
    room = UnsafeMutableRawBufferPointer(
      rebasing: room.dropFirst(output.count - Int(stream.pointee.avail_out)))
    switch status {
    // Z_BUF_ERROR says that nothing could be done, because there was no byte or no room.
    case Z_OK, Z_BUF_ERROR: return .within
    case Z_STREAM_END: return .atEnd
    case Z_MEM_ERROR: throw Failure(reason: "there is no memory for the decoder")
    default:
      throw Failure(reason: stream.pointee.msg.map { String(cString: $0) } ?? "they are damaged")
    }
  }

  /// Begins the next member.
  ///
  /// C: `inflateReset`
  func restart() {
    inflateReset(stream)
  }
}
