import FormStreamPlatform

/// Reads a segment that is not in memory.
protocol SegmentReader: AnyObject {
  /// Reads bytes and returns their number: at least 1, or 0 at the end of a segment that was read completely and
  /// without an error.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int
  /// Reads like `read(into:)`, but without waiting. Returns nil if reading would have to wait; then nothing has
  /// changed.
  func readAtOnce(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(MultipartError) -> Int?
}

/// Reads a stream, and throws if it violates the contract of ``ByteSource`` or does not have its
/// announced length.
final class StreamReader: SegmentReader {
  private let source: any ByteSource
  private let part: String
  private let announced: Int64?
  private var position: Int64 = 0
  private var scans: [CollisionScan]
  private var hasEnded = false
  private let passLength: PassLength?
  private let interruption: SourceInterruption?

  init(
    _ origin: StreamOrigin, part: String, scanningFor boundaries: [Boundary],
    interruptedBy interruption: SourceInterruption?
  ) throws(MultipartError) {
    source = try origin.open(for: part)
    self.part = part
    announced = origin.length
    scans = boundaries.map(CollisionScan.init)
    passLength = origin.passLength
    self.interruption = interruption
    interruption?.begin(source)
  }

  deinit {
    interruption?.end()
    source.close()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
    if hasEnded { return 0 }
    guard let announced else { return try take(into: buffer) }
    let wanted = min(Int64(buffer.count), announced - position)
    if wanted > 0 {
      let count = try take(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(wanted)]))
      guard count > 0 else {
        throw MultipartError(
          .streamTooShort, on: part,
          "The stream\(ofPart(part)) ended after \(position) of its \(counted(announced, "byte", "bytes")): "
            + "\(PartSetting.streamLength).")
      }
      if position < announced { return count }
      try checkEnd(of: announced)
      return count
    }
    try checkEnd(of: announced)
    return 0
  }

  func readAtOnce(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(MultipartError) -> Int? {
    nil
  }

  /// Checks that the stream ends after its announced length. This happens before the last bytes are returned. So a
  /// stream that is too long never results in a complete body.
  private func checkEnd(of announced: Int64) throws(MultipartError) {
    var probe: UInt8 = 0
    let count = try withUnsafeMutableBytes(of: &probe) { (byte) throws(MultipartError) in
      try take(into: byte)
    }
    guard count == 0 else {
      throw MultipartError(
        .streamTooLong, on: part,
        "The stream\(ofPart(part)) has more than its \(counted(announced, "byte", "bytes")): "
          + "\(PartSetting.streamLength).")
    }
  }

  private func take(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
    let count = try Self.read(source, into: buffer, of: part, at: position)
    if count == 0 { hasEnded = true }
    position += Int64(count)
    try passLength?.check(position, isEnd: hasEnded, of: part)
    try scan(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    return count
  }

  /// Reads from a source, and throws if it fails or returns an impossible count.
  static func read(
    _ source: any ByteSource, into buffer: UnsafeMutableRawBufferPointer, of part: String,
    at offset: Int64
  ) throws(MultipartError) -> Int {
    let count: Int
    do {
      count = try source.read(into: buffer)
    } catch {
      throw MultipartError(
        .streamFailed, on: part,
        "The stream\(ofPart(part)) failed at byte \(offset): \(error).",
        underlying: error)
    }
    guard (0...buffer.count).contains(count) else {
      throw MultipartError(
        .streamFailed, on: part,
        "The stream\(ofPart(part)) returned a count of \(count) for a buffer of "
          + "\(counted(buffer.count, "byte", "bytes")): correct the source.")
    }
    return count
  }

  private func scan(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) {
    for index in scans.indices where scans[index].finds(in: bytes) {
      throw CollisionScan.collision(scans[index].boundary, in: part)
    }
  }
}
