import Glibc
public import FormStreamMultipart

/// Compares bodies with the expected bytes. It reads all bodies into the same memory, and is fast enough for a hundred
/// thousand bodies in a debug build.
public final class BodyCheck {
  private let buffer: UnsafeMutableRawBufferPointer

  /// Allocates memory for bodies of up to `limit` bytes.
  public init(limit: Int) {
    buffer = .allocate(byteCount: limit, alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// Whether `reader` returns exactly `expected`, read in chunks of `chunk` bytes.
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
