/// "Did you mean": the known word that is most similar to the typed one.
enum Suggestion {
  /// A sentence for the end of a message; empty if no word is similar.
  static func text(for typed: String, among known: [String], before prefix: String = "") -> String {
    // The start of a word is a better sign than similar letters.
    let completions = known.filter { typed.count > 2 && $0.hasPrefix(typed) }
      .sorted { $0.count < $1.count }
    if completions.count == 1 { return " Did you mean \(prefix)\(completions[0])?" }
    let similar = known.map { (word: $0, distance: distance(typed, $0)) }
      .filter { $0.distance <= max(2, typed.count / 3) }
      .min { $0.distance < $1.distance }
    return similar.map { " Did you mean \(prefix)\($0.word)?" } ?? ""
  }

  /// A sentence about the name of a flag that no command has, for the end of a message; empty if no name is similar. A name
  /// that means the opposite is never suggested.
  static func text(forFlag typed: String, of verb: Verb?) -> String {
    let flags = Flag.all.filter { flag in verb.map(flag.isKnown) ?? true }
    var known: [String] = []
    for name in flags.map(\.long) + CurlFlag.otherNames where !known.contains(name) {
      known.append(name)
    }
    let completions = known.filter { typed.count > 2 && $0.hasPrefix(typed) }
      .sorted { $0.count < $1.count }
    if (1...4).contains(completions.count) {
      let names = completions.map { "--\($0)" }
      let choice = names.dropLast().joined(separator: ", ") + (names.count > 1 ? " or " : "")
      return " Names are not abbreviated: write \(choice)\(names[names.count - 1])."
    }
    if typed.hasPrefix("no-") {
      known =
        known.filter { $0.hasPrefix("no") }
        + flags.filter { $0.value == nil }.map { "no-\($0.long)" }
    } else {
      known.removeAll { $0.hasPrefix("no-") }
    }
    return text(for: typed, among: known, before: "--")
  }

  /// How many letters must be inserted, removed, changed, or swapped with their neighbor.
  private static func distance(_ one: String, _ other: String) -> Int {
    // A long word is not a mistyped flag, and the cost of comparing grows with the length.
    guard one.count <= 64 else { return .max }
    let (one, other) = (Array(one), Array(other))
    var rows = [Array(0...other.count)]
    for i in 0..<one.count {
      var row = [i + 1]
      for j in 0..<other.count {
        let change = rows[i][j] + (one[i] == other[j] ? 0 : 1)
        var best = min(change, rows[i][j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
          best = min(best, rows[i - 1][j - 1] + 1)
        }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[one.count][other.count]
  }
}
