import Glibc
public import FormStreamMultipart

/// Reads a body to its end into memory of its own, over and over for many bodies, and compares it
/// with what is expected; fast enough in a debug build to be done a hundred thousand times.
public final class BodyCheck {
  private let buffer: UnsafeMutableRawBufferPointer

  /// Makes room for bodies of up to `limit` bytes.
  public init(limit: Int) {
    buffer = .allocate(byteCount: limit, alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// Whether `reader` gives `expected` and no more, read `chunk` bytes at a time.
  public func matches(_ expected: ArraySlice<UInt8>, _ reader: BodyReader, chunk: Int) throws
    -> Bool
  {
    var count = 0
    while true {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + chunk])
      let read = try reader.read(into: room)
      if read == 0 { break }
      guard (1...chunk).contains(read) else { return false }
      count += read
      guard count <= expected.count else { return false }
    }
    guard count == expected.count else { return false }
    return expected.withUnsafeBytes { wanted in
      guard count > 0, let start = wanted.baseAddress, let given = buffer.baseAddress else {
        return true
      }
      return memcmp(start, given, count) == 0
    }
  }
}
