public import Foundation

/// The body of a form as an `InputStream`. Files and streams are opened when their first byte is
/// read, and nothing is buffered.
///
/// ```swift
/// let stream = try FormInputStream(form)
/// request.setValue(stream.contentType, forHTTPHeaderField: "Content-Type")
/// ```
///
/// Don't set `Content-Length` for a `URLSession` on Linux: Foundation sends streams chunked there,
/// and RFC 9112 §6.2 forbids both framings in one request.
///
/// `read` waits for bytes. Run loops and delegates are not supported. One thread at a time may use
/// a stream. It is not `Sendable`: pass its factory, ``FormStreamMultipart/BodyLayout/makeInputStream()``,
/// and create the stream on the thread that reads it. A copy (`NSCopying`) is a new stream at the start.
///
/// `close()` closes the open file or source; so does releasing the stream.
public final class FormInputStream: InputStream {
  /// The body that is read.
  public let layout: BodyLayout

  private let reader: BodyReader
  private var isOpen = false
  private var isClosed = false
  /// The error of a read before the stream was opened, or after it was closed. `open()` and a read without an error
  /// reset it.
  private var misuse: MultipartError?

  /// Creates a stream of a body that is already laid out.
  public init(_ layout: BodyLayout) {
    self.layout = layout
    reader = layout.makeReader()
    // The superclass requires data. Every method that would read it is overridden.
    super.init(data: Data())
  }

  /// Lays out a form and creates a stream of its body. See
  /// ``/FormStreamMultipart/Form/layout(detector:verify:)``.
  public convenience init(
    _ form: Form, detector: any MediaTypeDetector = ExtensionTable.builtIn,
    verify: Bool = false
  ) throws(MultipartError) {
    self.init(try form.layout(detector: detector, verify: verify))
  }

  /// The exact number of bytes in the body; nil if it is not known.
  public var contentLength: Int64? { layout.contentLength }

  /// The value of the request's `Content-Type` header.
  public var contentType: String { layout.contentType }

  /// The offset of the next byte.
  public var position: Int64 { reader.position }

  /// Moves to an offset in the body. See ``/FormStreamMultipart/BodyReader/seek(to:)``.
  public func seek(to offset: Int64) throws(MultipartError) {
    try reader.seek(to: offset)
  }

  // MARK: Stream

  /// Opens the stream. A stream can be opened once.
  public override func open() {
    guard !isClosed else { return }
    isOpen = true
    misuse = nil
  }

  /// Closes the open file or stream. Reading fails afterwards, and the stream can't be opened
  /// again.
  public override func close() {
    reader.close()
    isOpen = false
    isClosed = true
  }

  /// `.notOpen` before `open()`, `.atEnd` after the last byte, `.error` after a failure.
  public override var streamStatus: Stream.Status {
    if isClosed { return .closed }
    if reader.failure != nil { return .error }
    if !isOpen { return .notOpen }
    return reader.isAtEnd ? .atEnd : .open
  }

  /// The `MultipartError` that reading failed with.
  public override var streamError: (any Error)? { reader.failure ?? misuse }

  /// The position for `.fileCurrentOffsetKey`, as in file streams; nil for any other key.
  public override func property(forKey key: Stream.PropertyKey) -> AnyObject? {
    key == .fileCurrentOffsetKey ? NSNumber(value: position) : nil
  }

  /// Seeks to a number for `.fileCurrentOffsetKey`. Returns false if seeking fails, and for other keys.
  public override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool {
    guard key == .fileCurrentOffsetKey, let offset = property as? NSNumber else { return false }
    return (try? seek(to: offset.int64Value)) != nil
  }

  /// Does nothing: run loops are not supported.
  public override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

  /// Does nothing: run loops are not supported.
  public override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

  // MARK: InputStream

  /// Reads bytes and returns their number: at least 1, 0 at the end, or -1 after a failure (see `streamError`). The
  /// call waits until bytes are available.
  public override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
    do throws(MultipartError) {
      guard isOpen, length >= 0 else { throw Self.misused }
      let count = try reader.read(
        into: UnsafeMutableRawBufferPointer(start: buffer, count: length))
      misuse = nil
      return count
    } catch {
      if reader.failure == nil { misuse = error }
      return -1
    }
  }

  private static let misused = MultipartError(
    .notOpen, on: "the stream",
    "The stream can't be read: open it first, read 0 bytes or more, and create a new one after "
      + "closing it.")

  /// Always false: the stream has no buffer.
  public override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
    length: UnsafeMutablePointer<Int>
  ) -> Bool {
    false
  }

  /// True until the last byte was read, even after a failure or an early `close()`: readers
  /// understand false as the end of the body.
  public override var hasBytesAvailable: Bool { !reader.isAtEnd }
}

extension FormInputStream: NSCopying {
  /// Creates an unopened stream of the same layout.
  public func copy(with zone: NSZone? = nil) -> Any {
    FormInputStream(layout)
  }
}

extension BodyLayout {
  /// Creates an unopened stream of the body. The method can be passed to another thread as a factory, for example to
  /// create a stream for each attempt:
  ///
  /// ```swift
  /// let make: @Sendable () -> FormInputStream = layout.makeInputStream
  /// ```
  public func makeInputStream() -> FormInputStream { FormInputStream(self) }
}
