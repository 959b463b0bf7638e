/// Looks for a boundary's delimiter in the bytes of a part, which may come in pieces of any size.
///
/// RFC 2046 §5.1.1: "Boundary delimiters must not appear within the encapsulated material." A delimiter
/// stands at a line's start, but some receivers cut a part at hyphens and boundary wherever they stand: so
/// anywhere counts.
struct CollisionScan {
  let boundary: Boundary
  private let scanner: BoundaryScanner
  /// The end of what was seen: all that may be the beginning of a delimiter.
  private var tail: [UInt8] = []

  init(for boundary: Boundary) {
    self.boundary = boundary
    scanner = BoundaryScanner(for: Array("--\(boundary)".utf8))
  }

  /// Begins a new part.
  mutating func restart() {
    tail.removeAll(keepingCapacity: true)
  }

  /// Whether the delimiter occurs in the bytes so far, these included.
  mutating func finds(in bytes: UnsafeRawBufferPointer) -> Bool {
    if !tail.isEmpty {
      // The seam: what is held, and enough of the piece to decide it.
      tail.append(contentsOf: bytes.prefix(scanner.delimiter.count - 1))
      guard case .data(let end) = tail.withUnsafeBytes({ scanner.scan($0) }) else { return true }
      if bytes.count < scanner.delimiter.count {
        tail.removeFirst(end)
        return false
      }
      tail.removeAll(keepingCapacity: true)
    }
    guard case .data(let end) = scanner.scan(bytes) else { return true }
    tail.append(contentsOf: bytes[end...])
    return false
  }
}

extension CollisionScan {
  /// The error where the delimiter of `boundary` was found in `part`.
  static func collision(_ boundary: Boundary, in part: String) -> MultipartError {
    MultipartError(
      .boundaryCollision, on: part,
      "The boundary \(boundary.description.quoted) occurs inside part \(part.quoted): choose "
        + "another boundary, or leave it out and one is drawn at random.")
  }
}
