/// The size of a terminal, in characters.
package struct TerminalSize: Hashable, Sendable {
  package let columns: Int
  package let rows: Int

  package init(columns: Int, rows: Int = 24) {
    self.columns = columns
    self.rows = rows
  }
}
