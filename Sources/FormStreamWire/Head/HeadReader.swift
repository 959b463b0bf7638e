/// Reads a head from bytes in any division: bytes in, a head out.
///
/// A head that arrives whole is read in place, and copied once when it is complete. A reader keeps its memory for the next head
/// of the connection. A head that somebody still holds then keeps the memory, and the reader gets new memory.
struct HeadReader: Sendable {
  private var scan: HeadScan
  /// The bytes of the head so far. They are complete as soon as `read` has returned true.
  private(set) var bytes: [UInt8] = []

  /// More memory than this is given back after a head.
  private static let keptCapacity = 16 * 1024
  /// How much of the input is looked at together if a head is divided. What follows the head in the input isn't copied.
  private static let step = 1024

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

  /// Gives memory back that an unusually large head has left.
  mutating func releaseMemory() {
    if bytes.capacity > Self.keptCapacity { bytes = [] }
  }

  /// Reads from the front of the input, up to the end of the head.
  ///
  /// - Returns: whether the head is complete.
  mutating func read(_ input: inout UnsafeRawBufferPointer) throws(WireError) -> Bool {
    guard !bytes.isEmpty else { return try readInPlace(&input) }
    while !input.isEmpty {
      let held = bytes.count
      let piece = min(input.count, Self.step)
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[..<piece]))
      switch scanBytes() {
      case .error(let error): throw error
      case .needsMore: _ = input.takeFirst(piece)
      case .complete(let size):
        // The bytes that were held before aren't the end of a head.
        _ = input.takeFirst(size - held)
        bytes.removeLast(bytes.count - size)
        return true
      }
    }
    return false
  }

  private mutating func scanBytes() -> HeadScan.Finding {
    // The bytes are moved out, so that the scan can be changed while they are read.
    var moved: [UInt8] = []
    swap(&moved, &bytes)
    defer { swap(&moved, &bytes) }
    return moved.withUnsafeBytes { scan.scan($0) }
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
    scan.statusLine.map { ResponseHead(bytes: fittingBytes, statusLine: $0, lines: scan.lines) }
  }

  /// The bytes of the head in memory of about their size. Callers keep heads in results, and shouldn't keep the memory of a larger
  /// head with them.
  private var fittingBytes: [UInt8] {
    bytes.capacity <= 2 * bytes.count + 512 ? bytes : bytes.withUnsafeBufferPointer { Array($0) }
  }

  /// The trailers; nil if there are none.
  var trailers: Trailers? {
    scan.lines.isEmpty ? nil : Trailers(bytes: bytes, lines: scan.lines)
  }
}
