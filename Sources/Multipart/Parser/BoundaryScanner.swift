/// Finds a delimiter in bytes that come in pieces. It is a pure function of the piece: it keeps nothing.
///
/// The search skips (Horspool): it looks at the last byte of a window as long as the delimiter, and most
/// bytes let the window jump by its whole length. Where that byte is the delimiter's last and the window
/// is no delimiter, the search goes on at the next line end: nowhere else may one begin.
///
/// The time is linear whatever comes. A delimiter has a line end at its start only, so what matches its
/// beginning at one place never overlaps with what does at another, and no byte is compared twice.
struct BoundaryScanner: Sendable {
  enum Finding: Equatable {
    /// The delimiter stands at this place; all before it is data.
    case delimiter(at: Int)
    /// There is none. All before this place is data; what is behind it may be a delimiter's beginning.
    case data(upTo: Int)
  }

  let delimiter: [UInt8]
  /// How far the window may jump, by its last byte.
  private let jumps: [Int]

  /// - Parameter delimiter: what to look for; never empty. Its first byte stands nowhere else in it.
  init(for delimiter: [UInt8]) {
    self.delimiter = delimiter
    var jumps = [Int](repeating: delimiter.count, count: 256)
    for (index, byte) in delimiter.dropLast().enumerated() {
      jumps[Int(byte)] = delimiter.count - 1 - index
    }
    self.jumps = jumps
  }

  /// Looks for the delimiter in one piece.
  func scan(_ bytes: UnsafeRawBufferPointer) -> Finding {
    delimiter.withUnsafeBytes { wanted in
      jumps.withUnsafeBufferPointer { jumps in
        let last = wanted.count - 1
        var end = last
        while end < bytes.count {
          let byte = bytes[end]
          let jumped = end + jumps[Int(byte)]
          if byte == wanted[last] {
            let start = end - last
            if bytes.has(wanted, at: start) { return .delimiter(at: start) }
            guard let next = bytes.firstIndex(of: wanted[0], from: start + 1) else { break }
            end = max(jumped, next + last)
          } else {
            end = jumped
          }
        }
        return .data(upTo: suspectedStart(of: wanted, in: bytes))
      }
    }
  }

  /// Where a delimiter may be beginning at the end of the piece: nowhere but at the last line end.
  private func suspectedStart(
    of wanted: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer
  ) -> Int {
    guard let start = bytes.suffix(wanted.count - 1).lastIndex(of: wanted[0]),
      wanted.starts(with: bytes[start...])
    else { return bytes.count }
    return start
  }
}
