/// "Did you mean": the known word that is most similar to the typed one.
enum Suggestion {
  /// A sentence for the end of a message; empty if no word is similar.
  static func text(for typed: String, among known: [String], before prefix: String = "") -> String {
    // The start of a word is a better sign than similar letters.
    let completions = known.filter { typed.count > 2 && $0.hasPrefix(typed) }
    if completions.count == 1 { return " Did you mean \(prefix)\(completions[0])?" }
    let similar = known.map { (word: $0, distance: distance(typed, $0)) }
      .filter { $0.distance <= max(2, typed.count / 3) }
      .min { $0.distance < $1.distance }
    return similar.map { " Did you mean \(prefix)\($0.word)?" } ?? ""
  }

  /// How many letters must be inserted, removed, changed, or swapped with their neighbour.
  private static func distance(_ one: String, _ other: String) -> Int {
    // The cost grows with the length, and a long word is not a typing error of a flag.
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
