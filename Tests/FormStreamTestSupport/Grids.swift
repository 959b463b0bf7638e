import Glibc

/// Whether every cell of a grid is tried, as `make test-long` does: `FORMSTREAM_GRID=all`.
public let triesAllCells = getenv("FORMSTREAM_GRID").map { String(cString: $0) } == "all"

/// All cells of a grid, or every `step`th: the same ones in each run. If `step` has no divisor in common with the lengths of
/// the inner dimensions, all their values are among them.
public func some<Cell>(_ cells: [Cell], each step: Int) -> [Cell] {
  triesAllCells ? cells : stride(from: 0, to: cells.count, by: step).map { cells[$0] }
}
