/// Rows of cells, with each column as wide as its widest cell.
enum TextTable {
  /// - Parameters:
  ///   - rows: cells that are safe for terminals; every row has the same number of them.
  ///   - numeric: the columns that are aligned to the right.
  static func text(of rows: [[String]], numeric: Set<Int>) -> String {
    let count = rows.first?.count ?? 0
    let widths = (0..<count).map { column in
      rows.reduce(0) { max($0, columns(of: $1[column])) }
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - columns(of: cell))
        line += column > 0 ? "  " : ""
        line += numeric.contains(column) ? padding + cell : cell + padding
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }
    .joined()
  }
}
