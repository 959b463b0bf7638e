/// Looks for a boundary's delimiter in the bytes of a part, which may come in pieces of any size.
///
/// RFC 2046 §5.1.1: "Boundary delimiters must not appear within the encapsulated material." A line may
/// end with CRLF, but lenient receivers take a lone LF or CR for one too; so a hyphen-hyphen-boundary
/// behind any of them, or at the very start, counts.
struct CollisionScan {
  let boundary: Boundary
  private let dashBoundary: [UInt8]
  /// The end of what was seen: as long as a delimiter that is not whole yet can be.
  private var tail: [UInt8]

  init(for boundary: Boundary) {
    self.boundary = boundary
    dashBoundary = Array("--\(boundary)".utf8)
    tail = []
    restart()
  }

  /// Begins a new part: its first byte stands at the start of a line.
  mutating func restart() {
    tail.removeAll(keepingCapacity: true)
    tail.append(0x0A)
  }

  /// Whether the delimiter occurs in the bytes so far, these included.
  mutating func finds(in bytes: UnsafeRawBufferPointer) -> Bool {
    let reach = dashBoundary.count
    var seam = tail
    seam.append(contentsOf: bytes.prefix(reach))
    if seam.withUnsafeBytes({ occurs(in: $0) }) || occurs(in: bytes) { return true }
    tail.append(contentsOf: bytes.suffix(reach))
    tail.removeFirst(max(0, tail.count - reach))
    return false
  }

  private func occurs(in bytes: UnsafeRawBufferPointer) -> Bool {
    occurs(in: bytes, behind: 0x0A) || occurs(in: bytes, behind: 0x0D)
  }

  private func occurs(in bytes: UnsafeRawBufferPointer, behind lineEnd: UInt8) -> Bool {
    dashBoundary.withUnsafeBytes { wanted in
      var start = 0
      while let end = bytes.firstIndex(of: lineEnd, from: start) {
        if bytes.has(wanted, at: end + 1) { return true }
        start = end + 1
      }
      return false
    }
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
