/// Reads a laid-out body, straight into its caller's memory.
///
/// Files and streams are opened when their turn comes and closed when it is over: one descriptor is
/// open at a time. A reader belongs to one thread at a time. It stays failed once it has failed: what
/// was read until then is no complete body.
public final class BodyReader {
  /// The body that is read.
  public let layout: BodyLayout
  /// How many bytes lie before the next one.
  public private(set) var position: Int64 = 0

  private var segment = 0
  /// How much of the segment has been given.
  private var given: Int64 = 0
  private var source: (any SegmentReader)?
  /// Why reading failed, where it has: the reader reads nothing more then.
  public private(set) var failure: MultipartError?
  private var isClosed = false

  init(of layout: BodyLayout) {
    self.layout = layout
  }

  /// Whether every byte of the body has been read.
  public var isAtEnd: Bool { segment == layout.segments.count }

  /// Reads into `buffer` and returns how many bytes are there: at least 1, or 0 at the end (or where
  /// `buffer` is empty). It never returns 0 for "later": it waits.
  ///
  /// Small neighbours share a buffer, but what is there is handed over before a stream is read that
  /// may block.
  ///
  /// - Throws: whatever keeps the body from being what the layout says; see ``MultipartError/Code``.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
    try checkUsable()
    do throws(MultipartError) {
      let count = try fill(buffer)
      position += Int64(count)
      return count
    } catch {
      fail(error)
      throw error
    }
  }

  /// Reads up to `count` bytes, and no more than 1 MiB at a time; none at the end.
  public func read(upTo count: Int) throws(MultipartError) -> [UInt8] {
    var failure: MultipartError?
    let bytes = [UInt8](unsafeUninitializedCapacity: min(max(count, 0), 1024 * 1024)) {
      buffer, filled in
      do throws(MultipartError) {
        filled = try read(into: UnsafeMutableRawBufferPointer(buffer))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Goes to any place in the body, in O(log n) but for what lies before it in a stream, which has
  /// to be read.
  ///
  /// Behind a stream of unknown length no place is known beforehand: to go from one to another there,
  /// even forward, the stream is read again from its start.
  ///
  /// - Throws: `offsetOutsideBody`; `notReplayable` where a stream that can be read once would have to
  ///   be passed over or read again, and the position stays; whatever reading throws, and then the
  ///   reader has failed.
  public func seek(to offset: Int64) throws(MultipartError) {
    try checkUsable()
    guard offset != position else { return }
    guard offset >= 0, offset <= layout.contentLength ?? .max else {
      throw MultipartError(
        .offsetOutsideBody, on: "\(offset)",
        "There is no byte \(offset) in a body of \(layout.contentLength.map(String.init) ?? "unknown") "
          + "bytes.")
    }
    let target = layout.find(offset)
    try checkCrossing(to: target)
    let here = (segment: segment, skip: given)
    let start = position
    var obstacle: MultipartError?
    do throws(MultipartError) {
      obstacle = try go(to: target, at: offset)
      // Only reading tells what lies behind a part of unknown length: then back to where we were.
      if obstacle != nil { _ = try go(to: here, at: start) }
    } catch {
      fail(error)
      throw error
    }
    if let obstacle { throw obstacle }
  }

  /// Closes what is open. The reader reads nothing more.
  public func close() {
    source = nil
    isClosed = true
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
  private func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
    var filled = 0
    while filled < buffer.count, segment < layout.segments.count {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let current = layout.segments[segment]
      var count = 0
      var hasEnded: Bool { given + Int64(count) == current.length }
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
        count = try open(extent, of: current).read(into: room)
        isOver = hasEnded
      case .stream(let origin):
        if filled > 0 { return filled }
        count = try open(origin, of: current).read(into: room)
        // Only the stream itself can say that there is no more.
        isOver = count == 0
      }
      filled += count
      given += Int64(count)
      if isOver { advance() }
    }
    return filled
  }

  private func advance() {
    source = nil
    segment += 1
    given = 0
  }

  private func copy(
    _ bytes: Slice<UnsafeRawBufferPointer>, to room: UnsafeMutableRawBufferPointer
  ) -> Int {
    let piece = bytes.dropFirst(Int(given)).prefix(room.count)
    room.copyMemory(from: UnsafeRawBufferPointer(rebasing: piece))
    return piece.count
  }

  private func open(
    _ extent: FileExtent, of segment: Segment
  ) throws(MultipartError) -> any SegmentReader {
    if let source { return source }
    let opened = try FileReader(
      extent, part: segment.name, skipping: given, opened: extent.kept?.take())
    source = opened
    return opened
  }

  private func open(
    _ origin: StreamOrigin, of current: Segment
  ) throws(MultipartError) -> any SegmentReader {
    if let source { return source }
    let opened = try StreamReader(
      origin, part: current.name, scanningFor: layout.scannedStreams[segment] ?? [])
    source = opened
    return opened
  }
}

extension BodyReader {
  /// Going past a stream that can be read once, or back to one that has been begun, can't be done.
  private func checkCrossing(to target: (segment: Int, skip: Int64)) throws(MultipartError) {
    let isBegun = source != nil || given > 0
    let first = min(segment, target.segment)
    var last = max(segment, target.segment)
    let touchesLast = last == target.segment && target.skip > 0 || last == segment && isBegun
    if !touchesLast { last -= 1 }

    let index = layout.oneShots.partitionPoint { $0 >= first }
    guard index < layout.oneShots.count, layout.oneShots[index] <= last else { return }
    throw StreamOrigin.notReplayable(layout.segments[layout.oneShots[index]].name)
  }

  /// Goes to a place in a segment, or tells what keeps the reader from there.
  private func go(
    to place: (segment: Int, skip: Int64), at offset: Int64
  ) throws(MultipartError) -> MultipartError? {
    source = nil
    (segment, given) = (place.segment, 0)
    position = offset - place.skip
    return try skip(place.skip)
  }

  /// From the start of a segment on, passes over `count` bytes, or tells what stands in the way.
  private func skip(_ count: Int64) throws(MultipartError) -> MultipartError? {
    guard count > 0 else { return nil }
    guard case .stream = layout.segments[segment].content else {
      given = count
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
      let read = try fill(UnsafeMutableRawBufferPointer(rebasing: scratch[..<piece]))
      guard read > 0 else {
        return MultipartError(
          .offsetOutsideBody, on: "\(position + left)",
          "The body ended \(left) bytes before byte \(position + left).")
      }
      left -= Int64(read)
      position += Int64(read)
    }
    return nil
  }
}
