/// Finds a delimiter in a piece of a body. A scanner has no state: between two pieces, the caller keeps the bytes that
/// may be the beginning of a delimiter.
///
/// The search is Horspool's: a window with the length of the delimiter moves over the piece, and its last byte is
/// compared first. Most bytes let the window skip its full length.
///
/// First, the last two bytes of the window are looked up. If the delimiter never has them beside each other, the window moves by
/// its length less one. This is the same distance each time, so the processor can read the next window before the look-up has
/// ended: most bodies are searched twice as fast.
///
/// A delimiter that begins with a line break can't overlap itself, so few bytes are compared twice. The encoder also searches for
/// delimiters without a line break. With a boundary of hyphens in a body of hyphens, Horspool's search would compare the full
/// window at each step. So if the search has compared more bytes than it has advanced, it continues with the algorithm of Knuth,
/// Morris and Pratt. The time is then linear for any input.
struct BoundaryScanner: Sendable {
  enum Finding: Equatable {
    /// The delimiter starts at this index. The bytes before are data.
    case delimiter(at: Int)
    /// There is no delimiter. The bytes before this index are data. The bytes from this index on may be the beginning
    /// of a delimiter.
    case data(upTo: Int)
  }

  let delimiter: [UInt8]
  /// How far the window can skip, for each value of its last byte.
  private let skips: [Int]
  /// Whether two bytes may be beside each other in the delimiter, by their `pairIndex`.
  private let pairs: [Bool]
  /// For each prefix of the delimiter, the length of its longest proper prefix that is also its
  /// suffix.
  private let borders: [Int]

  /// - Parameter delimiter: the bytes to find, at least two.
  init(for delimiter: [UInt8]) {
    // Every delimiter begins with two hyphens, so no input leads to this.
    precondition(delimiter.count > 1)
    self.delimiter = delimiter
    var skips = [Int](repeating: delimiter.count, count: 256)
    for (index, byte) in delimiter.dropLast().enumerated() {
      skips[Int(byte)] = delimiter.count - 1 - index
    }
    self.skips = skips

    var pairs = [Bool](repeating: false, count: 1 << Self.pairBits)
    for (first, second) in zip(delimiter, delimiter.dropFirst()) {
      pairs[Self.pairIndex(first, second)] = true
    }
    self.pairs = pairs

    var borders = [0]
    var length = 0
    for index in delimiter.indices.dropFirst() {
      while length > 0, delimiter[index] != delimiter[length] { length = borders[length - 1] }
      if delimiter[index] == delimiter[length] { length += 1 }
      borders.append(length)
    }
    self.borders = borders
  }

  private static let pairBits = 10

  /// Two bytes as an index of few bits. Few other pairs share the index of a pair in the delimiter.
  private static func pairIndex(_ first: UInt8, _ second: UInt8) -> Int {
    (Int(first) << 2 ^ Int(second)) & (1 << pairBits - 1)
  }

  /// Searches one piece.
  func scan(_ bytes: UnsafeRawBufferPointer) -> Finding {
    delimiter.withUnsafeBufferPointer { wanted in
      skips.withUnsafeBufferPointer { skips in
        let last = wanted.count - 1
        var end = last
        var work = 0
        while end < bytes.count {
          let byte = bytes[end]
          guard pairs[Self.pairIndex(bytes[end - 1], byte)] else {
            end += last
            continue
          }
          if byte == wanted[last] {
            let start = end - last
            var matched = 0
            while matched < last, bytes[start + matched] == wanted[matched] { matched += 1 }
            if matched == last { return .delimiter(at: start) }
            work += matched
            if work > 1024 + start { return scanWithoutSteppingBack(bytes, from: start + 1) }
          }
          end += skips[Int(byte)]
        }
        return .data(upTo: startOfPossibleDelimiter(in: bytes, from: max(0, bytes.count - last)))
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

  /// The start of the longest suffix of the piece that is a prefix of the delimiter.
  private func startOfPossibleDelimiter(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    if case .data(let index) = scanWithoutSteppingBack(bytes, from: start) { return index }
    return start
  }
}
