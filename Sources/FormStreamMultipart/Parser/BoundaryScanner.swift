/// Finds a delimiter in bytes that come in pieces. It is a pure function of the piece: it keeps nothing.
///
/// The search skips (Horspool): it looks at the last byte of a window as long as the delimiter, and most
/// bytes let the window jump by its whole length. A delimiter that begins with a line end can't be met
/// within itself, so what is compared twice is little. One without, as the encoder looks for (hyphens for a
/// boundary of hyphens), would have it compare everything again at each step: once it has compared more
/// than it has advanced, an automaton that never steps back (Knuth, Morris, Pratt) takes over, so the time
/// is linear whatever comes.
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
  /// For each prefix of the delimiter, the length of its longest proper prefix that is also its end.
  private let borders: [Int]

  /// - Parameter delimiter: what to look for; never empty.
  init(for delimiter: [UInt8]) {
    self.delimiter = delimiter
    var jumps = [Int](repeating: delimiter.count, count: 256)
    for (index, byte) in delimiter.dropLast().enumerated() {
      jumps[Int(byte)] = delimiter.count - 1 - index
    }
    self.jumps = jumps

    var borders = [0]
    var length = 0
    for index in delimiter.indices.dropFirst() {
      while length > 0, delimiter[index] != delimiter[length] { length = borders[length - 1] }
      if delimiter[index] == delimiter[length] { length += 1 }
      borders.append(length)
    }
    self.borders = borders
  }

  /// Looks for the delimiter in one piece.
  func scan(_ bytes: UnsafeRawBufferPointer) -> Finding {
    delimiter.withUnsafeBufferPointer { wanted in
      jumps.withUnsafeBufferPointer { jumps in
        let last = wanted.count - 1
        var end = last
        var work = 0
        while end < bytes.count {
          let byte = bytes[end]
          if byte == wanted[last] {
            let start = end - last
            var matched = 0
            while matched < last, bytes[start + matched] == wanted[matched] { matched += 1 }
            if matched == last { return .delimiter(at: start) }
            work += matched
            if work > 1024 + start { return scanWithoutSteppingBack(bytes, from: start + 1) }
          }
          end += jumps[Int(byte)]
        }
        return .data(upTo: suspectedStart(in: bytes, from: max(0, bytes.count - last)))
      }
    }
  }

  private func scanWithoutSteppingBack(
    _ bytes: UnsafeRawBufferPointer, from start: Int
  ) -> Finding {
    var matched = 0
    for index in start..<bytes.count {
      while matched > 0, bytes[index] != delimiter[matched] { matched = borders[matched - 1] }
      if bytes[index] == delimiter[matched] { matched += 1 }
      if matched == delimiter.count { return .delimiter(at: index + 1 - matched) }
    }
    return .data(upTo: bytes.count - matched)
  }

  /// Where the longest end of the piece starts that a delimiter may begin with.
  private func suspectedStart(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    if case .data(let place) = scanWithoutSteppingBack(bytes, from: start) { return place }
    return start
  }
}
