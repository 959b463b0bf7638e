/// Reads a head from bytes in any division: bytes in, a head out.
///
/// A head that arrives whole is read in place, and copied once when it is complete. A reader keeps its memory for the next head
/// of the connection.
struct HeadReader: Sendable {
  private var scan: HeadScan
  /// The bytes of the head so far. They are complete as soon as `read` has returned true.
  private(set) var bytes: [UInt8] = []

  /// More memory than this is given back after a head.
  private static let keptCapacity = 16 * 1024

  init(
    _ section: HeadScan.Section, _ limits: HeadLimits, sizeError: WireError? = nil
  ) {
    scan = HeadScan(section, limits, sizeError: sizeError)
  }

  /// Starts with another head.
  mutating func reset() {
    scan.reset()
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
  }

  /// Reads from the front of the input, up to the end of the head.
  ///
  /// - Returns: whether the head is complete.
  mutating func read(_ input: inout UnsafeRawBufferPointer) throws(WireError) -> Bool {
    guard !bytes.isEmpty else { return try readInPlace(&input) }
    // One byte more than a head may have is enough to see that it is too large.
    let held = bytes.count
    let piece = min(input.count, max(scan.limits.head - held, 0) + 1)
    bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[..<piece]))
    // The bytes are moved out, so that the scan can be changed while they are read.
    var moved: [UInt8] = []
    swap(&moved, &bytes)
    let finding = moved.withUnsafeBytes { scan.scan($0) }
    swap(&moved, &bytes)
    switch finding {
    case .error(let error): throw error
    case .needsMore:
      _ = input.takeFirst(piece)
      return false
    case .complete(let size):
      // The bytes that were held before aren't the end of a head.
      _ = input.takeFirst(size - held)
      bytes.removeLast(bytes.count - size)
      return true
    }
  }

  private mutating func readInPlace(
    _ input: inout UnsafeRawBufferPointer
  ) throws(WireError) -> Bool {
    let finding = scan.scan(input)
    let (size, isComplete) =
      switch finding {
      case .error(let error): throw error
      case .needsMore: (input.count, false)
      case .complete(let size): (size, true)
      }
    let read = input.takeFirst(size)
    // Most chunked bodies have no trailers: nothing is allocated for them.
    if isComplete, scan.lines.isEmpty, scan.statusLine == nil { return true }
    bytes.append(contentsOf: read)
    return isComplete
  }

  /// The response's head; nil unless it is complete.
  var head: ResponseHead? {
    scan.statusLine.map { ResponseHead(bytes: bytes, statusLine: $0, lines: scan.lines) }
  }

  /// The trailers; nil if there are none.
  var trailers: Trailers? {
    scan.lines.isEmpty ? nil : Trailers(bytes: bytes, lines: scan.lines)
  }
}
