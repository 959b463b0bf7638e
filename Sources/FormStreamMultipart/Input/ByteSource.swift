/// A source of bytes that is pulled: a pipe, a decompressor, a generator.
///
/// A source is made where it is read, by the factory that a part holds, and read by one thread. It is
/// closed once, when it has been read to its end or is given up.
public protocol ByteSource: AnyObject {
  /// Reads into `buffer`, which is never empty, and returns how many bytes are there: at least 1, or 0
  /// at the end, which is then final. It may block; it must not return 0 for "later".
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int

  /// Frees what the source holds. Nothing is read after it.
  func close()
}

/// How often a stream part can be read.
public struct Replay: Hashable, Sendable {
  private let isOneShot: Bool

  /// Every call of the factory gives the same bytes from the start: the body can be sent again.
  public static let repeatable = Replay(isOneShot: false)
  /// The bytes are there once, as in a pipe: a second attempt is refused, not sent half.
  public static let once = Replay(isOneShot: true)
}
