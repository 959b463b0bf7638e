import FormStreamTransfer

/// Progress as one line of a terminal: `photo (2 of 3)   42 %  [=====>     ]  123 MiB of 1.2 GiB  35 MiB/s`.
package enum ProgressBar {
  private static let narrowest = 8
  private static let widest = 32

  /// A piece of the line. If there is not enough room, the pieces with the lowest rank are left out first.
  private struct Piece {
    let text: String
    let rank: Int
    var gap = 2
    var isPercentage = false
  }

  /// The line. It never fills the last column: in many terminals, the cursor would move to the next line.
  package static func line(
    _ progress: ShownProgress, columns width: Int, isColored: Bool = false
  ) -> String {
    let room = width - 1
    var pieces = pieces(of: progress, room: room)
    while columns(of: pieces) > room, let least = pieces.map(\.rank).min() {
      pieces.removeAll { $0.rank == least }
    }
    var line = ""
    for (index, piece) in pieces.enumerated() {
      if index > 0 { line += String(repeating: " ", count: piece.gap) }
      line += piece.text
      guard piece.isPercentage else { continue }
      let cells = min(room - columns(of: pieces) - 4, widest)
      if cells >= narrowest { line += "  " + bar(progress, cells: cells, isColored: isColored) }
    }
    return line
  }

  private static func columns(of pieces: [Piece]) -> Int {
    pieces.reduce(pieces.isEmpty ? 0 : -pieces[0].gap) {
      $0 + $1.gap + FormStreamCommand.columns(of: $1.text)
    }
  }

  private static func pieces(of progress: ShownProgress, room: Int) -> [Piece] {
    var pieces: [Piece] = []
    if let item = progress.item {
      let label = label(item, limit: max(room / 3, 12))
      if !label.isEmpty { pieces.append(Piece(text: label, rank: 4)) }
    }
    if progress.total != 0, progress.handed > 0 || progress.phase == .sending {
      if let percentage = progress.percentage {
        pieces.append(Piece(text: padded("\(percentage) %", to: 5), rank: 7, isPercentage: true))
      }
      pieces.append(Piece(text: padded(HumanReadable.size(progress.handed), to: 8), rank: 5))
      if let total = progress.total, progress.handed < total {
        pieces.append(Piece(text: "of \(HumanReadable.size(total))", rank: 2, gap: 1))
      }
    }
    if let state = progress.state {
      pieces.append(Piece(text: state, rank: 6))
    } else if progress.phase == .sending {
      if let rate = progress.rate {
        pieces.append(Piece(text: padded(HumanReadable.rate(rate), to: 10), rank: 1))
      }
      if let left = progress.left {
        pieces.append(Piece(text: "\(HumanReadable.time(left)) left", rank: 3))
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

  /// Numbers get a fixed width, so that the text after them does not move.
  private static func padded(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(width - FormStreamCommand.columns(of: text), 0)) + text
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
