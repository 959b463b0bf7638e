import FormStreamMultipart

/// The arguments about a form and its parts.
struct FormArguments {
  /// The parts, in the order in which they were typed.
  private(set) var parts: [PartArguments] = []
  /// How many parts are open: `=(` has opened them, and `=)` has not closed them yet. Each open part is inside the open
  /// part before it.
  private(set) var openParts = 0
  var boundary: String?
  var escaping: EscapingProfile?
  var browserText = false
  var verifiesBoundary = false
  /// Whether files may grow while they are sent.
  var growth = FileGrowth.refused

  /// Carries out one `-F`: it adds or opens a part, or closes the part that was opened last.
  mutating func add(_ sentence: FormLanguage.Sentence, of argument: Argument) throws(Failure) {
    switch sentence {
    case .part(let part): add(part)
    case .opening(let part):
      add(part)
      openParts += 1
    case .closing:
      guard openParts > 0 else {
        throw .usage(
          "\(argument.named("-F")): =) has no =( before it; for a value that begins like that, use --field."
        )
      }
      openParts -= 1
    }
  }

  /// Adds a part to the form, or to the part that `=(` opened last.
  mutating func add(_ part: PartArguments) {
    parts.withLast(atDepth: openParts) { $0.append(part) }
  }

  /// Changes the last part, for a flag that follows it.
  mutating func changePreviousPart(
    of flag: String, _ change: (inout PartArguments) -> Void
  ) throws(Failure) {
    let isChanged = parts.withLast(atDepth: openParts) { parts in
      guard let last = parts.indices.last else { return false }
      change(&parts[last])
      return true
    }
    guard isChanged else {
      throw .usage(
        "\(flag) is for the part before it, and there is none: put it after -F, --field or --file.")
    }
  }

  /// Sets a property of the last part that can be set once.
  mutating func setOnPreviousPart<Value>(
    _ property: WritableKeyPath<PartArguments, Value?>, of flag: String, to value: Value
  ) throws(Failure) {
    var name: String?
    try changePreviousPart(of: flag) { part in
      if part[keyPath: property] != nil { name = part.name }
      part[keyPath: property] = value
    }
    if let name { throw .usage("\(flag) is given twice for part \"\(name)\": give it once.") }
  }
}

extension [PartArguments] {
  /// Changes a list of parts in place: at depth 0 this list, at depth 1 the parts in its last part, and so on.
  fileprivate mutating func withLast<Result>(
    atDepth depth: Int, _ change: (inout [PartArguments]) -> Result
  ) -> Result {
    guard depth > 0, let last = indices.last else { return change(&self) }
    return self[last].children.withLast(atDepth: depth - 1, change)
  }
}
