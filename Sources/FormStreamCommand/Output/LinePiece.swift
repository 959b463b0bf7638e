/// A piece of a line that must fit a terminal: if there is not enough room, the pieces with the lowest rank are left out
/// first.
struct LinePiece {
  let text: String
  let rank: Int
  /// How many spaces are before it, if it is not the first piece.
  var gap = 2

  /// A piece for a number: it gets a fixed width, so that the text after it does not move.
  static func number(_ text: String, width: Int, rank: Int) -> LinePiece {
    let padding = max(width - FormStreamCommand.columns(of: text), 0)
    return LinePiece(text: String(repeating: " ", count: padding) + text, rank: rank)
  }
}

extension [LinePiece] {
  /// How many columns the line takes.
  var columns: Int {
    reduce(-(first?.gap ?? 0)) { $0 + $1.gap + FormStreamCommand.columns(of: $1.text) }
  }

  /// The pieces for which there is room.
  func fitting(_ room: Int) -> [LinePiece] {
    var pieces = self
    while pieces.columns > room, let least = pieces.map(\.rank).min() {
      pieces.removeAll { $0.rank == least }
    }
    return pieces
  }

  /// The pieces as one line.
  var line: String {
    enumerated().reduce(into: "") { line, item in
      if item.offset > 0 { line += String(repeating: " ", count: item.element.gap) }
      line += item.element.text
    }
  }
}
