import func Glibc.exp2
import func Glibc.log2

/// A picture of what was measured, as SVG that needs nothing else: no script, no font. It is dark where the reader's system is.
struct BenchPlot {
  private struct Line {
    let name: String
    let points: [(x: Double, y: Double)]
  }

  private struct Axis {
    let title: String
    let marks: [(value: Double, text: String)]
    /// Maps a value to a share of the axis.
    let place: (Double) -> Double
  }

  private let lines: [Line]
  private let title: String
  private let x, y: Axis

  /// Draws memory over size if there are several sizes, otherwise memory over the time of one upload.
  init(_ result: BenchResult) {
    var lines: [Line] = []
    var names: [String: Int] = [:]
    for program in result.programs {
      // The same program may be measured twice.
      names[program.name, default: 0] += 1
      let number = names[program.name] ?? 1
      let name = number > 1 ? "\(program.name) (\(number))" : program.name
      let points: [(x: Double, y: Double)] =
        result.sizes.count > 1
        ? result.sizes.compactMap { size in
          program.spread(size, \.peakBytes).map { (Double(size), $0.median) }
        }
        : result.sizes.first.flatMap { program.uploads[$0]?.last }.map { upload in
          upload.samples.map { ($0.time / .seconds(1), Double($0.resident)) }
        } ?? []
      if !points.isEmpty { lines.append(Line(name: name, points: points)) }
    }
    self.lines = lines
    y = Self.memoryAxis(lines.flatMap(\.points).map(\.y))
    if result.sizes.count > 1 {
      title = "The most memory that an upload needs"
      x = Axis(
        title: "Size of the upload (logarithmic)", marks: result.sizes.map { (Double($0), HumanReadable.size($0)) },
        place: Self.logarithmic(Double(result.sizes.first ?? 1), Double(result.sizes.last ?? 2)))
    } else {
      title =
        "Memory during an upload of \(result.count > 1 ? "\(result.count) × " : "")\(HumanReadable.size(result.sizes.first ?? 0))"
      let longest = max(lines.flatMap(\.points).map(\.x).max() ?? 0, 1e-3)
      let step = roundStep(upTo: longest)
      let count = Int((longest / step).rounded(.down))
      let places = step < 0.01 ? 3 : step < 0.1 ? 2 : step < 1 ? 1 : 0
      x = Axis(
        title: "Seconds",
        marks: (0...count).map { (Double($0) * step, decimal(Double($0) * step, places: places)) },
        place: { $0 / longest })
    }
  }

  /// An axis on which each mark is twice the one before, or four times. One picture then shows small and large programs.
  private static func memoryAxis(_ values: [Double]) -> Axis {
    let mebibyte = Double(1 << 20)
    let low = log2(max(values.min() ?? mebibyte, mebibyte)).rounded(.down)
    let high = max(log2(max(values.max() ?? mebibyte, mebibyte)).rounded(.up), low + 1)
    let step = high - low > 8 ? 2.0 : 1.0
    let marks = stride(from: low, through: high, by: step).map { exponent in
      let value = exp2(exponent)
      return (value, HumanReadable.size(Int64(clamping: Int(value))))
    }
    return Axis(title: "Memory (logarithmic)", marks: marks, place: logarithmic(exp2(low), exp2(high)))
  }

  private static func logarithmic(_ first: Double, _ last: Double) -> (Double) -> Double {
    { (log2(max($0, first)) - log2(first)) / (log2(last) - log2(first)) }
  }

  // MARK: The text

  private static let (width, height) = (700.0, 400.0)
  private static let labelHeight = 17.0
  private static let (left, right, top, bottom) = (84.0, 130.0, 48.0, 52.0)

  private func point(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    (
      Self.left + self.x.place(x) * (Self.width - Self.left - Self.right),
      Self.height - Self.bottom - self.y.place(y) * (Self.height - Self.top - Self.bottom)
    )
  }

  var text: String {
    let (width, height) = (Int(Self.width), Int(Self.height))
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)" role="img">
      <title>\(escaped(title))</title>
      <style>
      :root { color-scheme: light dark; }
      text { font: 13px system-ui, sans-serif; }
      .title { font-size: 16px; font-weight: 600; }
      .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
      \(Self.look(back: "#ffffff", ink: "#1b1f24", grid: "#d5d9de"))
      \(Self.colours(\.light))
      @media (prefers-color-scheme: dark) {
      \(Self.look(back: "#14181d", ink: "#e8ebee", grid: "#3a424b"))
      \(Self.colours(\.dark))
      }
      </style>
      <rect width="\(width)" height="\(height)" class="back"/>
      <text class="title" x="16" y="22">\(escaped(title))</text>
      <text x="16" y="39">\(escaped(y.title))</text>

      """
    for mark in y.marks {
      let y = point(x.marks.first?.value ?? 0, mark.value).y
      text +=
        "<line class=\"grid\" x1=\"\(Int(Self.left))\" x2=\"\(width - Int(Self.right))\" y1=\"\(coordinate(y))\" y2=\"\(coordinate(y))\"/>\n"
      text += "<text x=\"\(Int(Self.left) - 8)\" y=\"\(coordinate(y + 4))\" text-anchor=\"end\">\(escaped(mark.text))</text>\n"
    }
    for mark in x.marks {
      let x = point(mark.value, y.marks.first?.value ?? 0).x
      text +=
        "<text x=\"\(coordinate(x))\" y=\"\(height - Int(Self.bottom) + 20)\" text-anchor=\"middle\">\(escaped(mark.text))</text>\n"
    }
    let middle = Self.left + (Self.width - Self.left - Self.right) / 2
    text += "<text x=\"\(coordinate(middle))\" y=\"\(height - 10)\" text-anchor=\"middle\">\(escaped(x.title))</text>\n"
    for (index, line) in lines.enumerated() { text += self.text(of: line, index) }
    return text + labels + "</svg>\n"
  }

  private func text(of line: Line, _ index: Int) -> String {
    let points = line.points.map { place in
      let (x, y) = point(place.x, place.y)
      return "\(coordinate(x)),\(coordinate(y))"
    }
    let kind = "c\(index % Self.palette.count)"
    // The dashes are for readers who don't see the colors.
    let dashes = index % 4 == 0 ? "" : " stroke-dasharray=\"\(["", "9 4", "3 3", "12 4 3 4"][index % 4])\""
    return "<polyline class=\"line \(kind)\"\(dashes) points=\"\(points.joined(separator: " "))\"/>\n"
      + (line.points.count == 1 ? dot(line.points[0], kind) : "")
  }

  private func dot(_ place: (x: Double, y: Double), _ kind: String) -> String {
    let (x, y) = point(place.x, place.y)
    return "<circle class=\"\(kind)\" cx=\"\(coordinate(x))\" cy=\"\(coordinate(y))\" r=\"3.5\"/>\n"
  }

  /// The names at the right, each beside the end of its line, or as near as the others leave room.
  private var labels: String {
    let ends = lines.enumerated().map { index, line in
      (index, line, y: point(line.points.last?.x ?? 0, line.points.last?.y ?? 0).y)
    }.sorted { $0.y < $1.y }
    var places: [Double] = []
    for end in ends { places.append(max(end.y, (places.last ?? 0) + Self.labelHeight)) }
    var limit = Self.height - Self.bottom
    for index in places.indices.reversed() {
      places[index] = min(places[index], limit)
      limit = places[index] - Self.labelHeight
    }
    let x = Int(Self.width - Self.right) + 10
    return zip(ends, places).map { end, place in
      "<circle class=\"c\(end.0 % Self.palette.count)\" cx=\"\(x)\" cy=\"\(coordinate(place))\" r=\"4\"/>"
        + "<text x=\"\(x + 10)\" y=\"\(coordinate(place + 4))\">\(escaped(end.1.name))</text>\n"
    }.joined()
  }

  /// The colors of everything but the lines. They are literals, because many viewers don't know variables and would draw black on
  /// black.
  private static func look(back: String, ink: String, grid: String) -> String {
    ".back { fill: \(back); } text { fill: \(ink); } .grid { stroke: \(grid); }"
  }

  /// Colors that differ also for people who see fewer of them.
  private static let palette: [(light: String, dark: String)] = [
    ("#0b63c4", "#6cb2ff"), ("#c2410c", "#ff9a62"), ("#107a48", "#5fd39a"), ("#8b2fb0", "#d99bf2"),
    ("#8a6a00", "#e6c34d"), ("#4b5563", "#b6bec8"),
  ]

  private static func colours(_ kind: ((light: String, dark: String)) -> String) -> String {
    palette.enumerated().map { index, pair in
      ".line.c\(index) { stroke: \(kind(pair)); } circle.c\(index) { fill: \(kind(pair)); }"
    }.joined(separator: "\n")
  }
}
