import FormStreamPlatform

/// Reads the body of a layout, directly into the memory of the caller.
///
/// A file or stream is opened when its first byte is read and closed after its last: one descriptor is open at a time.
/// One thread at a time may use a reader. After an error, every call throws the error again: the bytes that were read
/// before are not a complete body.
public final class BodyReader {
  /// The body that is read.
  public let layout: BodyLayout
  /// The offset of the next byte.
  public private(set) var position: Int64 = 0

  private var segment = 0
  /// The offset of the next byte in the segment.
  private var segmentOffset: Int64 = 0
  private var source: (any SegmentReader)?
  /// The error that reading failed with; nil if it did not fail.
  public private(set) var failure: MultipartError?
  private var isClosed = false
  /// Nil if there is no stream.
  private let interruption: SourceInterruption?

  init(of layout: BodyLayout) {
    self.layout = layout
    interruption = layout.hasStreams ? SourceInterruption() : nil
  }

  /// Whether every byte of the body has been read.
  public var isAtEnd: Bool { segment == layout.segments.count }

  /// Reads bytes into `buffer` and returns their number: at least 1, or 0 at the end or if `buffer`
  /// is empty. It waits for streams.
  ///
  /// One call may read several small segments. Before a stream, which may block, the call returns the bytes that it has
  /// read.
  ///
  /// - Throws: ``MultipartError``, if the body can't match the layout.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
    try read(into: buffer, waiting: .always) ?? 0
  }

  /// Reads bytes that are available without waiting: bytes in memory, and bytes of local files in the system's cache.
  /// In all other respects, this is like ``read(into:)``.
  ///
  /// - Returns: nil if there are more bytes, but none without waiting. Then nothing has changed. Call ``read(into:)``,
  ///   on any thread, to wait for the bytes.
  package func readAtOnce(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(MultipartError) -> Int? {
    try read(into: buffer, waiting: .never)
  }

  /// Reads up to `count` bytes that are in memory or in a file on a disk of this machine. In all other respects, this
  /// is like ``read(upTo:)``.
  ///
  /// - Returns: nil if reading the next bytes may take arbitrarily long. Then nothing has changed.
  func readUnlessSlow(upTo count: Int) throws(MultipartError) -> [UInt8]? {
    waitsForNext ? nil : try read(upTo: count, waiting: .forDisk)
  }

  /// Reads up to `count` bytes like ``readAtOnce(into:)``.
  func readAtOnce(upTo count: Int) throws(MultipartError) -> [UInt8]? {
    waitsForNext ? nil : try read(upTo: count, waiting: .never)
  }

  /// What reading may wait for.
  private enum Waiting {
    case never
    /// A disk of this machine.
    case forDisk
    case always
  }

  /// Whether the next bytes come from a stream, or from a file on another machine or in another program. Even opening
  /// and closing such a file may take arbitrarily long.
  package var waitsForNext: Bool {
    guard segment < layout.segments.count else { return false }
    return layout.segments[segment].mustBeWaitedFor
  }

  private func read(
    into buffer: UnsafeMutableRawBufferPointer, waiting: Waiting
  ) throws(MultipartError) -> Int? {
    try checkUsable()
    do throws(MultipartError) {
      guard let count = try fill(buffer, waiting: waiting) else { return nil }
      position += Int64(count)
      return count
    } catch {
      fail(error)
      throw error
    }
  }

  /// Reads up to `count` bytes, at most 1 MiB. Returns an empty array at the end.
  public func read(upTo count: Int) throws(MultipartError) -> [UInt8] {
    try read(upTo: count, waiting: .always) ?? []
  }

  /// - Returns: nil if there are more bytes, but none without waiting.
  private func read(upTo count: Int, waiting: Waiting) throws(MultipartError) -> [UInt8]? {
    var failure: MultipartError?
    var mustWait = false
    let bytes = [UInt8](unsafeUninitializedCapacity: min(max(count, 0), 1024 * 1024)) {
      buffer, filled in
      do throws(MultipartError) {
        let count = try read(into: UnsafeMutableRawBufferPointer(buffer), waiting: waiting)
        (filled, mustWait) = (count ?? 0, count == nil)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return mustWait ? nil : bytes
  }

  /// Moves to an offset in the body, in O(log n). In a stream, everything before the offset must be
  /// read.
  ///
  /// After a stream of unknown length, offsets are not known beforehand. To move there, even
  /// forward, the stream is read again from its start.
  ///
  /// - Throws: `offsetOutsideBody`; `notReplayable` if a one-shot stream would have to be skipped or read again. After
  ///   these two errors, the position is unchanged. Also the errors of reading; after such an error, the reader has
  ///   failed.
  public func seek(to offset: Int64) throws(MultipartError) {
    try checkUsable()
    guard offset != position else { return }
    guard offset >= 0, offset <= layout.contentLength ?? .max else {
      throw MultipartError(
        .offsetOutsideBody, on: "\(offset)",
        "There is no byte \(offset) in a body of "
          + (layout.contentLength.map { "\(counted($0, "byte", "bytes"))." } ?? "unknown length."))
    }
    let target = layout.find(offset)
    try checkCrossing(to: target)
    let here = (segment: segment, skip: segmentOffset)
    let start = position
    var seekError: MultipartError?
    do throws(MultipartError) {
      seekError = try move(to: target, at: offset)
      // After a part of unknown length, only reading shows whether the offset exists. If it does not exist, move back.
      if seekError != nil { _ = try move(to: here, at: start) }
    } catch {
      fail(error)
      throw error
    }
    if let seekError { throw seekError }
  }

  /// Closes the open file or stream. Reading afterwards throws `notOpen`.
  public func close() {
    source = nil
    isClosed = true
  }

  /// Interrupts the streams: see ``ByteSource/interrupt()``. Afterwards, the reader can only be closed. Unlike all
  /// other methods, this one may be called on any thread at any time.
  package func interrupt() {
    interruption?.interrupt()
  }

  private func checkUsable() throws(MultipartError) {
    if let failure { throw failure }
    if isClosed {
      throw MultipartError(
        .notOpen, on: "the body", "The body was closed: make a new reader to read it again.")
    }
  }

  private func fail(_ error: MultipartError) {
    source = nil
    failure = error
  }
}

extension BodyReader {
  /// - Returns: nil if nothing could be read without waiting.
  private func fill(
    _ buffer: UnsafeMutableRawBufferPointer, waiting: Waiting
  ) throws(MultipartError) -> Int? {
    var filled = 0
    while filled < buffer.count, segment < layout.segments.count {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let current = layout.segments[segment]
      if waiting != .always, current.mustBeWaitedFor { return filled > 0 ? filled : nil }
      var count = 0
      var hasEnded: Bool { segmentOffset + Int64(count) == current.length }
      var isOver = false

      switch current.content {
      case .literal(let range):
        layout.literals.withUnsafeBytes { count = copy($0[range], to: room) }
        isOver = hasEnded
      case .memory(let bytes):
        bytes.withBytes { count = copy($0[..<min(bytes.count, $0.count)], to: room) }
        if count == 0 { throw bytes.shrunk(in: current.name) }
        isOver = hasEnded
      case .file(let extent):
        let file = try open(extent, of: current)
        if waiting != .never {
          count = try file.read(into: room)
        } else if let cached = try file.readAtOnce(into: room) {
          count = cached
        } else {
          return filled > 0 ? filled : nil
        }
        isOver = hasEnded
      case .stream(let origin):
        if filled > 0 { return filled }
        count = try open(origin, of: current).read(into: room)
        // Only the stream knows its end.
        isOver = count == 0
      }
      filled += count
      segmentOffset += Int64(count)
      if isOver { advance() }
    }
    return filled
  }

  private func advance() {
    source = nil
    segment += 1
    segmentOffset = 0
  }

  private func copy(
    _ bytes: Slice<UnsafeRawBufferPointer>, to room: UnsafeMutableRawBufferPointer
  ) -> Int {
    let piece = bytes.dropFirst(Int(segmentOffset)).prefix(room.count)
    room.copyMemory(from: UnsafeRawBufferPointer(rebasing: piece))
    return piece.count
  }

  private func open(
    _ extent: FileExtent, of segment: Segment
  ) throws(MultipartError) -> any SegmentReader {
    if let source { return source }
    let opened = try FileReader(
      extent, part: segment.name, skipping: segmentOffset, opened: extent.kept?.take())
    source = opened
    return opened
  }

  private func open(
    _ origin: StreamOrigin, of current: Segment
  ) throws(MultipartError) -> any SegmentReader {
    if let source { return source }
    let opened = try StreamReader(
      origin, part: current.name, scanningFor: layout.scannedStreams[segment] ?? [],
      interruptedBy: interruption)
    source = opened
    return opened
  }
}

extension BodyReader {
  /// Throws if a one-shot stream would be skipped, or was begun and would be read again.
  private func checkCrossing(to target: (segment: Int, skip: Int64)) throws(MultipartError) {
    let hasBegun = source != nil || segmentOffset > 0
    let first = min(segment, target.segment)
    var last = max(segment, target.segment)
    let crossesLastSegment =
      last == target.segment && target.skip > 0 || last == segment && hasBegun
    if !crossesLastSegment { last -= 1 }

    let index = layout.oneShots.partitionPoint { $0 >= first }
    guard index < layout.oneShots.count, layout.oneShots[index] <= last else { return }
    throw StreamOrigin.notReplayable(layout.segments[layout.oneShots[index]].name)
  }

  /// Moves to an offset in a segment. Returns the error if the offset can't be reached.
  private func move(
    to target: (segment: Int, skip: Int64), at offset: Int64
  ) throws(MultipartError) -> MultipartError? {
    source = nil
    (segment, segmentOffset) = (target.segment, 0)
    position = offset - target.skip
    return try skip(target.skip)
  }

  /// Skips `count` bytes from the start of a segment. Returns the error if they can't be skipped.
  private func skip(_ count: Int64) throws(MultipartError) -> MultipartError? {
    guard count > 0 else { return nil }
    guard case .stream = layout.segments[segment].content else {
      segmentOffset = count
      position += count
      return nil
    }
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    defer { scratch.deallocate() }
    var left = count
    while left > 0 {
      if segment < layout.segments.count, layout.segments[segment].isOneShot {
        return StreamOrigin.notReplayable(layout.segments[segment].name)
      }
      let piece = Int(min(left, Int64(scratch.count)))
      let room = UnsafeMutableRawBufferPointer(rebasing: scratch[..<piece])
      guard let read = try fill(room, waiting: .always), read > 0 else {
        return MultipartError(
          .offsetOutsideBody, on: "\(position + left)",
          "The body ended \(counted(left, "byte", "bytes")) before byte \(position + left).")
      }
      left -= Int64(read)
      position += Int64(read)
    }
    return nil
  }
}
