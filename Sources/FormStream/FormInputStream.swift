public import Foundation

/// A form's body as an `InputStream`, read lazily: nothing is opened before its turn comes, nothing is
/// read before it is asked for, and nothing is kept.
///
/// ```swift
/// let stream = try FormInputStream(form)
/// request.setValue(stream.contentType, forHTTPHeaderField: "Content-Type")
/// ```
///
/// Where it is given to a `URLSession` on Linux, set no `Content-Length` beside it: this Foundation
/// sends streams chunked, and both framings at once are refused or worse.
///
/// The stream is polled: `read` waits for bytes. It is not scheduled on run loops, and no delegate is
/// called. It belongs to one thread at a time and is not Sendable: pass the `BodyLayout`, which is,
/// and make the stream where it is read. A copy (`NSCopying`) is a fresh stream at the start.
///
/// `close()` frees what is open, and so does letting the stream go.
public final class FormInputStream: InputStream {
  /// The body that is read.
  public let layout: BodyLayout

  private let reader: BodyReader
  private var isOpen = false
  private var isClosed = false
  /// The stream was read before it was opened, or after it was closed.
  private var misuse: MultipartError?

  /// A stream over a body that is laid out already: no file is looked at again.
  public init(_ layout: BodyLayout) {
    self.layout = layout
    reader = layout.makeReader()
    // The superclass asks for bytes of its own; every method that would read them is overridden.
    super.init(data: Data())
  }

  /// Lays a form out and makes a stream over it.
  public convenience init(
    _ form: Form, guessing guesser: any MediaTypeGuessing = NoGuess(), verify: Bool = false
  ) throws(MultipartError) {
    self.init(try form.layout(guessing: guesser, verify: verify))
  }

  /// The exact number of bytes that the stream will give; nil where that can't be known.
  public var contentLength: Int64? { layout.contentLength }

  /// The value of the request's `Content-Type` header.
  public var contentType: String { layout.contentType }

  /// How many bytes lie before the next one.
  public var position: Int64 { reader.position }

  /// Goes to any place in the body. See ``Multipart/BodyReader/seek(to:)``.
  public func seek(to offset: Int64) throws(MultipartError) {
    try reader.seek(to: offset)
  }

  // MARK: Stream

  /// Readies the stream. A stream can be opened once.
  public override func open() {
    if !isClosed { isOpen = true }
  }

  /// Frees what is open. Reading fails from here on; the stream can't be opened again.
  public override func close() {
    reader.close()
    isOpen = false
    isClosed = true
  }

  /// `.notOpen` until `open()`; `.atEnd` behind the last byte; `.error` once reading has failed.
  public override var streamStatus: Stream.Status {
    if isClosed { return .closed }
    if reader.failure != nil { return .error }
    if !isOpen { return .notOpen }
    return reader.isAtEnd ? .atEnd : .open
  }

  /// Why reading failed: a `MultipartError`.
  public override var streamError: (any Error)? { reader.failure ?? misuse }

  /// The position, for `.fileCurrentOffsetKey`, as file streams tell it; nil for any other key.
  public override func property(forKey key: Stream.PropertyKey) -> AnyObject? {
    key == .fileCurrentOffsetKey ? NSNumber(value: position) : nil
  }

  /// Seeks, for a number under `.fileCurrentOffsetKey`; false where that failed, and for other keys.
  public override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool {
    guard key == .fileCurrentOffsetKey, let offset = property as? NSNumber else { return false }
    return (try? seek(to: offset.int64Value)) != nil
  }

  /// Does nothing: the stream is polled.
  public override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

  /// Does nothing: the stream is polled.
  public override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

  // MARK: InputStream

  /// Reads at least 1 byte, waiting for it; 0 at the end; -1 on failure, with `streamError` set.
  public override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
    do throws(MultipartError) {
      guard isOpen, length >= 0 else { throw Self.misused }
      return try reader.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: length))
    } catch {
      if reader.failure == nil { misuse = error }
      return -1
    }
  }

  private static let misused = MultipartError(
    .notOpen, on: "the stream",
    "The stream can't be read: open it first, ask for 0 bytes or more, and make a new one after "
      + "closing it.")

  /// Always false: no buffer is kept that could be lent.
  public override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
    length: UnsafeMutablePointer<Int>
  ) -> Bool {
    false
  }

  /// True until the last byte has been read, whatever else has happened: readers take false for the
  /// end of the body, so a stream that has failed or was closed early must not say it.
  public override var hasBytesAvailable: Bool { !reader.isAtEnd }
}

extension FormInputStream: NSCopying {
  /// A fresh, unopened stream over the same layout.
  public func copy(with zone: NSZone? = nil) -> Any {
    FormInputStream(layout)
  }
}
