/// Rows of cells, each column as wide as its widest cell.
enum TextTable {
  /// - Parameters:
  ///   - rows: cells that are safe for terminals; all rows have as many.
  ///   - numeric: the columns that are set to the right.
  static func text(of rows: [[String]], numeric: Set<Int>) -> String {
    let columns = rows.first?.count ?? 0
    let widths = (0..<columns).map { column in
      rows.reduce(0) { max($0, $1[column].count) }
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += column > 0 ? "  " : ""
        line += numeric.contains(column) ? padding + cell : cell + padding
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }
    .joined()
  }
}
