/// "Did you mean": the known word that is nearest to what was typed.
enum Suggestion {
  /// A sentence to put behind the message, or nothing where no word is near.
  static func text(for typed: String, among known: [String], before prefix: String = "") -> String {
    // A beginning says more than letters that happen to be alike.
    let begun = known.filter { typed.count > 2 && $0.hasPrefix(typed) }
    if begun.count == 1 { return " Did you mean \(prefix)\(begun[0])?" }
    let near = known.map { (word: $0, distance: distance(typed, $0)) }
      .filter { $0.distance <= max(2, typed.count / 3) }
      .min { $0.distance < $1.distance }
    return near.map { " Did you mean \(prefix)\($0.word)?" } ?? ""
  }

  /// How many letters must be put in, taken out, changed, or swapped with their neighbour.
  private static func distance(_ one: String, _ other: String) -> Int {
    // Long garbage is near to nothing, and the table below grows with it.
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
