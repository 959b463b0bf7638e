/// Reads one segment that is not in memory.
protocol SegmentReader: AnyObject {
  /// At least 1 byte, or 0 when the segment has been given whole and is what was promised.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int
}

/// Reads a stream and holds it to its promise: neither fewer nor more bytes, and no nonsense.
final class StreamReader: SegmentReader {
  private let source: any ByteSource
  private let part: String
  private let promised: Int64?
  private var given: Int64 = 0
  private var scans: [CollisionScan]
  private var hasEnded = false

  init(_ origin: StreamOrigin, part: String, scanningFor boundaries: [Boundary])
    throws(MultipartError)
  {
    source = try origin.open(for: part)
    self.part = part
    promised = origin.length
    scans = boundaries.map(CollisionScan.init)
  }

  deinit { source.close() }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
    if hasEnded { return 0 }
    guard let promised else { return try take(into: buffer) }
    let wanted = min(Int64(buffer.count), promised - given)
    if wanted > 0 {
      let count = try take(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(wanted)]))
      guard count > 0 else {
        throw MultipartError(
          .streamTooShort, on: part,
          "The stream of part \(part.quoted) ended after \(given) of the \(promised) bytes that it "
            + "promised: promise what it has, or nil where that can't be known.")
      }
      if given < promised { return count }
      try checkEnd(of: promised)
      return count
    }
    try checkEnd(of: promised)
    return 0
  }

  /// All that was promised has come. Is there more? Asked before the last of it goes out, so that a body
  /// which lacks the rest is never complete.
  private func checkEnd(of promised: Int64) throws(MultipartError) {
    var probe: UInt8 = 0
    let count = try withUnsafeMutableBytes(of: &probe) { (byte) throws(MultipartError) in
      try take(into: byte)
    }
    guard count == 0 else {
      throw MultipartError(
        .streamTooLong, on: part,
        "The stream of part \(part.quoted) has more than the \(promised) bytes that it promised: "
          + "promise what it has, or nil where that can't be known.")
    }
  }

  private func take(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
    let count = try Self.read(source, into: buffer, of: part, at: given)
    if count == 0 { hasEnded = true }
    given += Int64(count)
    try scan(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    return count
  }

  /// Reads from the source of a part, and tells its failures and its nonsense.
  static func read(
    _ source: any ByteSource, into buffer: UnsafeMutableRawBufferPointer, of part: String,
    at place: Int64
  ) throws(MultipartError) -> Int {
    let count: Int
    do {
      count = try source.read(into: buffer)
    } catch {
      throw MultipartError(
        .streamFailed, on: part,
        "The stream of part \(part.quoted) failed at byte \(place): \(error).",
        underlying: error)
    }
    guard (0...buffer.count).contains(count) else {
      throw MultipartError(
        .streamFailed, on: part,
        "The stream of part \(part.quoted) says that it put \(count) bytes into room for "
          + "\(buffer.count): mend the source.")
    }
    return count
  }

  private func scan(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) {
    for index in scans.indices where scans[index].finds(in: bytes) {
      throw CollisionScan.collision(scans[index].boundary, in: part)
    }
  }
}
