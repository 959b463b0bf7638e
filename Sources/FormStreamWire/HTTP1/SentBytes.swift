/// Which bytes of a request have left: what was written, in order, and how much of it was accepted by the connection.
struct SentBytes: Sendable {
  enum Kind: Sendable {
    case head
    /// The framing of a chunk.
    case chunk
    case body
    /// The last chunk and the trailers.
    case lastChunk
  }

  private struct Run: Sendable {
    let kind: Kind
    var count: Int
  }

  /// What was written and not accepted. It has few entries: the bytes of a body of known length are one run, and a chunk adds
  /// two.
  private var runs: [Run] = []
  /// The index of the first run that isn't empty.
  private var first = 0

  /// Whether a byte left.
  private(set) var hasBegun = false
  /// Whether a byte after the head left.
  private(set) var hasLeftHead = false
  /// Whether a byte of the last chunk left.
  private(set) var hasBegunLastChunk = false
  /// How many bytes of the body left.
  private(set) var body: Int64 = 0

  /// Whether everything that was written was accepted.
  var isEmpty: Bool { first == runs.count }

  /// Starts with another request. The memory is used again.
  mutating func reset() {
    runs.removeAll(keepingCapacity: true)
    first = 0
    (hasBegun, hasLeftHead, hasBegunLastChunk, body) = (false, false, false, 0)
  }

  /// Notes that bytes were written.
  mutating func wrote(_ count: Int, _ kind: Kind) {
    guard count > 0 else { return }
    if !isEmpty, let last = runs.indices.last, runs[last].kind == kind {
      runs[last].count += count
    } else {
      runs.append(Run(kind: kind, count: count))
    }
  }

  /// Notes that the connection accepted the next bytes of what was written.
  mutating func accepted(_ count: Int) {
    var left = count
    while left > 0, first < runs.count {
      let size = min(left, runs[first].count)
      left -= size
      runs[first].count -= size
      note(size, runs[first].kind)
      if runs[first].count == 0 { first += 1 }
    }
    assert(left == 0, "More bytes were accepted than written.")
    guard isEmpty else { return }
    runs.removeAll(keepingCapacity: true)
    first = 0
  }

  private mutating func note(_ count: Int, _ kind: Kind) {
    hasBegun = true
    hasLeftHead = hasLeftHead || kind != .head
    hasBegunLastChunk = hasBegunLastChunk || kind == .lastChunk
    if kind == .body { body += Int64(count) }
  }
}
