/// A source of bytes for a stream part, such as a pipe, a decompressor or a generator.
///
/// The factory of the part creates a source on the thread that reads the body. Only this thread uses the source, except
/// for ``interrupt()``. The source is closed once: at its end, or earlier if reading stops.
public protocol ByteSource: AnyObject {
  /// Reads bytes into `buffer`, which is never empty, and returns their number: at least 1, or 0 at
  /// the end. It may block. It must not return 0 if more bytes may follow.
  ///
  /// - Throws: any error. Reading the body then fails with ``MultipartError`` and the code `streamFailed`.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int

  /// Ends a waiting read, because no more bytes are needed: the request was cancelled or has ended.
  ///
  /// It is called from another thread, during a read or between two reads. It is called at most once, and always before
  /// `close()`. It must return at once, and should make reads throw an error. By default it does nothing: a waiting
  /// read then blocks its thread until the read returns by itself.
  func interrupt()

  /// Releases the resources of the source. The source is not read afterwards.
  func close()
}

extension ByteSource {
  /// Does nothing.
  public func interrupt() {}
}

/// Whether a stream can be read more than once.
public struct Replay: Hashable, Sendable {
  private let isOneShot: Bool

  /// Each call of the factory returns a source of the same bytes, from the first on, so the body can be sent again. If
  /// a stream of unknown length has a different number of bytes when a layout is read again, reading fails with
  /// `sourceChanged`.
  public static let repeatable = Replay(isOneShot: false)
  /// The bytes can be read once, as from a pipe. Reading them a second time throws `notReplayable`.
  public static let once = Replay(isOneShot: true)
}
