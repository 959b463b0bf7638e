/// How a run went over time, in equal pieces of time. If the run is longer than the pieces, neighbors are joined. So the
/// timeline never has more than 480 pieces.
package struct RunTimeline: Sendable {
  /// What happened in a piece of time.
  package struct Piece: Hashable, Sendable {
    /// How many files the server accepted.
    package fileprivate(set) var accepted = 0
    /// How many bytes these files have.
    package fileprivate(set) var bytes: Int64 = 0
    /// How many files ended in another state.
    package fileprivate(set) var others = 0
    /// How long files were on their way, in nanoseconds, added up over the files.
    package fileprivate(set) var underWay = 0.0

    fileprivate mutating func add(_ other: Piece) {
      accepted += other.accepted
      bytes = bytes.addingClamped(other.bytes)
      others += other.others
      underWay += other.underWay
    }
  }

  private static let maximumPieces = 480
  /// The longest time, 73 years in nanoseconds.
  private static let longest: Int64 = 1 << 61

  /// When the timeline begins, in nanoseconds since 1970.
  package let start: Int64
  /// How long a piece is, in nanoseconds.
  package private(set) var width: Int64 = 1_000_000
  /// From the start to the last outcome, in nanoseconds; at least as long as the shortest piece.
  package private(set) var length: Int64 = 1_000_000
  /// The pieces up to the last one in which something happened.
  package private(set) var pieces: [Piece] = []

  init(from start: Int64) { self.start = start }

  /// Adds a file.
  ///
  /// - Parameters:
  ///   - begun: when its first request began, in nanoseconds since 1970; nil if none did.
  ///   - ended: when its outcome was known.
  ///   - acceptedBytes: how many bytes it has; nil if it was not accepted.
  mutating func add(from begun: Int64?, to ended: Int64, acceptedBytes: Int64?) {
    let end = place(of: ended)
    length = max(length, end)
    while end / width >= Self.maximumPieces { joinNeighbours() }
    let last = Int(end / width)
    while pieces.count <= last { pieces.append(Piece()) }
    if let acceptedBytes {
      pieces[last].accepted += 1
      pieces[last].bytes = pieces[last].bytes.addingClamped(max(acceptedBytes, 0))
    } else {
      pieces[last].others += 1
    }
    guard let begun else { return }
    let beginning = min(place(of: begun), end)
    for index in Int(beginning / width)...last {
      let (from, to) = (Int64(index) * width, Int64(index + 1) * width)
      pieces[index].underWay += Double(min(to, end) - max(from, beginning))
    }
  }

  /// A time as nanoseconds after the start.
  private func place(of time: Int64) -> Int64 {
    let (difference, isTooLarge) = time.subtractingReportingOverflow(start)
    return isTooLarge ? (time > start ? Self.longest : 0) : min(max(difference, 0), Self.longest)
  }

  private mutating func joinNeighbours() {
    width *= 2
    var joined: [Piece] = []
    joined.reserveCapacity(Self.maximumPieces)
    for index in stride(from: 0, to: pieces.count, by: 2) {
      var piece = pieces[index]
      if index + 1 < pieces.count { piece.add(pieces[index + 1]) }
      joined.append(piece)
    }
    pieces = joined
  }
}
