/// Which part of a form is under way. The parts are asked in their order and each a few times only, however
/// many there are and however often it is asked.
package struct PartCursor: Sendable {
  /// The last part that has begun.
  package private(set) var current = 0
  /// How many files are done.
  package private(set) var filesDone = 0
  /// The first part that is neither done nor empty, and how many files stand before it.
  private var probed = 0
  private var filesProbed = 0

  package init() {}

  /// Goes as far as the parts have come. Counts never go back, and neither does this.
  package mutating func advance(over parts: ProgressSnapshot.Parts, isWhole: Bool) {
    while probed < parts.count {
      let part = parts[probed]
      let isFile = part.isFile ? 1 : 0
      // Whether an empty part has gone is told by what comes behind it.
      if part.size != 0, !isWhole {
        guard part.sent != 0 else { return }
        current = probed
        filesDone = filesProbed
        guard part.size != nil, part.sent == part.size else { return }
        filesDone += isFile
      }
      probed += 1
      filesProbed += isFile
    }
    guard isWhole else { return }
    current = max(parts.count - 1, 0)
    filesDone = filesProbed
  }
}
