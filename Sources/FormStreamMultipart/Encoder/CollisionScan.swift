/// Searches the contents of a part, in pieces of any size, for the delimiter of a boundary.
///
/// RFC 2046 §5.1.1: "Boundary delimiters must not appear within the encapsulated material." A delimiter is at the start
/// of a line. But some receivers end a part at two hyphens and the boundary anywhere, so this text is not allowed
/// anywhere.
struct CollisionScan {
  let boundary: Boundary
  private let scanner: BoundaryScanner
  /// The last bytes so far, if they may be the beginning of a delimiter.
  private var tail: [UInt8] = []

  init(for boundary: Boundary) {
    self.boundary = boundary
    scanner = BoundaryScanner(for: Array("--\(boundary)".utf8))
  }

  /// Starts with another part.
  mutating func restart() {
    tail.removeAll(keepingCapacity: true)
  }

  /// Searches the next piece. Returns whether the delimiter was found.
  mutating func finds(in bytes: UnsafeRawBufferPointer) -> Bool {
    if !tail.isEmpty {
      // Searches the kept bytes, and enough of the piece to show whether the kept bytes begin a delimiter.
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
  /// The error for a delimiter in a part.
  static func collision(_ boundary: Boundary, in part: String) -> MultipartError {
    MultipartError(
      .boundaryCollision, on: part,
      "The boundary \(boundary.description.quoted) occurs inside part \(part.quoted): choose "
        + "another, or none for a random one.")
  }
}
