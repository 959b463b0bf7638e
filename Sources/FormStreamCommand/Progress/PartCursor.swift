/// Finds the part of a form that is being sent. Parts are checked in their order, and each part only a few times: a
/// form may have many parts, and the display asks often.
package struct PartCursor: Sendable {
  /// The last part whose sending has begun.
  package private(set) var current = 0
  /// How many files are completely sent.
  package private(set) var filesDone = 0
  /// The first part that is neither completely sent nor empty, and how many files precede it.
  private var next = 0
  private var filesBeforeNext = 0

  package init() {}

  /// Advances to the part that is being sent. It never goes back, because the counts never decrease.
  package mutating func advance(over parts: ProgressSnapshot.Parts, isComplete: Bool) {
    while next < parts.count {
      let part = parts[next]
      let isFile = part.isFile ? 1 : 0
      // An empty part was sent if a part after it has begun.
      if part.size != 0, !isComplete {
        guard part.sent != 0 else { return }
        current = next
        filesDone = filesBeforeNext
        guard part.size != nil, part.sent == part.size else { return }
        filesDone += isFile
      }
      next += 1
      filesBeforeNext += isFile
    }
    guard isComplete else { return }
    current = max(parts.count - 1, 0)
    filesDone = filesBeforeNext
  }
}
