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

  /// What was written and not accepted, after `first` runs that were accepted. The bytes of a body of known length are one run, and a
  /// chunk adds two.
  private var runs: [Run] = []
  /// The index of the first run that isn't empty.
  private var first = 0

  /// Whether a byte left.
  private(set) var hasBegun = false
  /// Whether a byte of the body, or of the last chunk, left. The size of a chunk is no byte of the body.
  private(set) var hasBegunBody = false
  /// Whether a byte of the last chunk left.
  private(set) var hasBegunLastChunk = false
  /// How many bytes of the head and of the body left.
  private(set) var (head, body): (Int64, Int64) = (0, 0)
  /// Whether the caller said that more bytes were accepted than it had written, or fewer than none. What left is unknown then.
  private(set) var isMiscounted = false

  /// Accepted runs are removed when there are so many, and not fewer than others: the time for it is constant for each run.
  private static let emptyRuns = 16

  /// Whether everything that was written was accepted.
  var isEmpty: Bool { first == runs.count }

  /// How many bytes were written and not accepted.
  var pending: Int64 {
    runs[first...].reduce(0) { count, run in
      let (sum, overflow) = count.addingReportingOverflow(Int64(run.count))
      return overflow ? .max : sum
    }
  }

  /// How many runs are held in memory.
  var runCount: Int { runs.count }

  /// Starts with another request. The memory is used again.
  mutating func reset() {
    runs.removeAll(keepingCapacity: true)
    first = 0
    (hasBegun, hasBegunBody, hasBegunLastChunk, head, body) = (false, false, false, 0, 0)
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
    if left != 0 { isMiscounted = true }
    removeEmptyRuns()
  }

  private mutating func removeEmptyRuns() {
    if isEmpty {
      runs.removeAll(keepingCapacity: true)
      first = 0
    } else if first >= Self.emptyRuns, first >= runs.count - first {
      runs.removeFirst(first)
      first = 0
    }
  }

  private mutating func note(_ count: Int, _ kind: Kind) {
    hasBegun = true
    switch kind {
    case .head: head += Int64(count)
    case .chunk: break
    case .body:
      hasBegunBody = true
      let (sum, overflow) = body.addingReportingOverflow(Int64(count))
      body = overflow ? .max : sum
    case .lastChunk: (hasBegunBody, hasBegunLastChunk) = (true, true)
    }
  }
}
