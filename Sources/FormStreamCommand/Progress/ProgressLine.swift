import FormStreamHTTP

/// Progress as one line of a terminal: `photo (2 of 3)   42 %  [=====>     ]  123 MiB of 1.2 GiB  35 MiB/s`.
package enum ProgressLine {
  private static let narrowest = 8
  private static let widest = 32
  private static let rankOfPercentage = 7

  /// The line. It never fills the last column, because the cursor would then move to the next line in many terminals.
  ///
  /// - Parameter keepsName: whether the name is the last piece that is left out if there is not enough room. Otherwise,
  ///   the name is left out before the counts.
  package static func line(
    _ progress: ShownProgress, columns width: Int, isColored: Bool = false, keepsName: Bool = false
  ) -> String {
    let room = width - 1
    var pieces = pieces(of: progress, room: room, rankOfName: keepsName ? 8 : 4).fitting(room)
    if let percentage = pieces.firstIndex(where: { $0.rank == rankOfPercentage }) {
      let cells = min(room - pieces.columns - 4, widest)
      if cells >= narrowest {
        let bar = bar(progress, cells: cells, isColored: isColored)
        pieces.insert(LinePiece(text: bar, rank: rankOfPercentage), at: percentage + 1)
      }
    }
    return pieces.line
  }

  /// How many columns the name of the part or file may take.
  static func labelWidth(columns width: Int) -> Int { max((width - 1) / 3, 12) }

  private static func pieces(
    of progress: ShownProgress, room: Int, rankOfName: Int
  ) -> [LinePiece] {
    var pieces: [LinePiece] = []
    if let item = progress.item {
      let label = label(item, limit: labelWidth(columns: room + 1))
      if !label.isEmpty { pieces.append(LinePiece(text: label, rank: rankOfName)) }
    }
    if progress.total != 0, progress.handed > 0 || progress.isMoving {
      if let percentage = progress.percentage {
        pieces.append(.number("\(percentage) %", width: 5, rank: rankOfPercentage))
      }
      pieces.append(.number(HumanReadable.size(progress.handed), width: 8, rank: 5))
      if let total = progress.total, progress.handed < total {
        pieces.append(LinePiece(text: "of \(HumanReadable.size(total))", rank: 2, gap: 1))
      }
    }
    if let state = progress.state {
      pieces.append(LinePiece(text: state, rank: 6))
    } else if progress.isMoving {
      if let rate = progress.rate {
        pieces.append(.number(HumanReadable.rate(rate), width: 10, rank: 1))
      }
      if let left = progress.left {
        pieces.append(LinePiece(text: "\(HumanReadable.time(left)) left", rank: 3))
      }
    }
    return pieces
  }

  private static func label(_ item: ShownProgress.Item, limit: Int) -> String {
    guard item.count > 1 else { return visible(item.name, upTo: limit) }
    let position = "\(item.number)\(item.isNumberLowerBound ? "+" : "") of \(item.count)"
    let name = visible(item.name, upTo: limit - position.count - 3)
    return name.isEmpty ? "part \(position)" : "\(name) (\(position))"
  }

  private static func bar(_ progress: ShownProgress, cells: Int, isColored: Bool) -> String {
    let percentage = progress.percentage ?? 0
    let filled = cells * percentage / 100
    let head = progress.handed > 0 && filled < cells ? ">" : ""
    var done = String(repeating: "=", count: filled) + head
    let rest = String(repeating: " ", count: cells - done.count)
    // Green, or yellow between two attempts.
    if isColored, !done.isEmpty {
      done = "\u{1B}[\(progress.phase == .retrying ? 33 : 32)m\(done)\u{1B}[0m"
    }
    return "[\(done)\(rest)]"
  }
}
