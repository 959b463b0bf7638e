/// A value over the time of a run, drawn as SVG for a page that defines the colors.
struct TimeChart {
  /// How the values are written beside the axis.
  enum Unit {
    case number
    case bytes
  }

  let title: String
  let unit: Unit
  /// The time that the chart covers, in nanoseconds: at least a millisecond, as in ``RunTimeline/length``.
  let length: Int64
  /// The values, with the nanoseconds since the start until which they hold. They hold from the one before.
  let points: [(end: Int64, value: Double)]
  /// Whether a value is about a moment, so that lines connect them. Otherwise they are bars.
  let isLine: Bool

  private static let (width, height) = (720.0, 150.0)
  private static let (left, right, top, bottom) = (74.0, 14.0, 8.0, 24.0)

  private var largest: Double { points.map(\.value).max() ?? 0 }

  /// The marks of the upward axis: at most five.
  private var marks: [Double] {
    guard largest > 0 else { return [0] }
    var step = unit == .bytes ? 1 : max(roundStep(upTo: largest), 1)
    while step * 4 < largest { step *= 2 }
    return Array(stride(from: 0, through: largest + step * 0.999, by: step))
  }

  /// The marks of the time: at most nine, in nanoseconds.
  private var times: [Double] {
    let seconds = Double(length) / 1e9
    let steps = [
      0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
      10800, 21600, 43200, 86400,
    ]
    let step = steps.first { seconds / $0 <= 8 } ?? roundStep(upTo: seconds / 86400) * 86400
    return stride(from: 0, through: seconds, by: step).map { $0 * 1e9 }
  }

  var text: String {
    let (width, height) = (Self.width, Self.height)
    let top = marks.last.map { $0 > 0 ? $0 : 1 } ?? 1
    func x(_ time: Double) -> Double {
      Self.left + time / Double(length) * (width - Self.left - Self.right)
    }
    func y(_ value: Double) -> Double { height - Self.bottom - value / top * (height - Self.top - Self.bottom) }
    func label(_ value: Double) -> String {
      switch unit {
      case .number: decimal(value, places: value < 10 && value != value.rounded() ? 1 : 0)
      case .bytes: HumanReadable.size(Int64(exactly: value.rounded()) ?? .max)
      }
    }
    var text = """
      <figure><figcaption>\(escaped(title))</figcaption>
      <svg viewBox="0 0 \(Int(width)) \(Int(height))" role="img" aria-label="\(escaped("At most \(label(largest))"))">

      """
    for mark in marks {
      text +=
        "<line class=\"grid\" x1=\"\(coordinate(Self.left))\" x2=\"\(coordinate(width - Self.right))\" "
        + "y1=\"\(coordinate(y(mark)))\" y2=\"\(coordinate(y(mark)))\"/>"
        + "<text x=\"\(coordinate(Self.left - 8))\" y=\"\(coordinate(y(mark) + 4))\" text-anchor=\"end\">\(label(mark))</text>\n"
    }
    for time in times {
      text +=
        "<text x=\"\(coordinate(x(time)))\" y=\"\(coordinate(height - 6))\" "
        // The last text must not leave the picture.
        + "text-anchor=\"\(x(time) > width - 40 ? "end" : "middle")\">"
        + "\(time == 0 ? "0" : HumanReadable.elapsed(.nanoseconds(Int64(time))))</text>\n"
    }
    text += isLine ? line(x, y) : bars(x, y)
    return text + "</svg></figure>\n"
  }

  private func line(_ x: (Double) -> Double, _ y: (Double) -> Double) -> String {
    let places = [(end: 0, value: 0.0)] + points
    let path = places.map { "\(coordinate(x(Double($0.end)))),\(coordinate(y($0.value)))" }.joined(separator: " ")
    return "<polyline class=\"line\" points=\"\(path)\"/>\n"
  }

  private func bars(_ x: (Double) -> Double, _ y: (Double) -> Double) -> String {
    var text = ""
    var begin: Int64 = 0
    for point in points {
      defer { begin = point.end }
      guard point.value > 0 else { continue }
      let (from, to) = (x(Double(begin)), x(Double(point.end)))
      text +=
        "<rect class=\"bar\" x=\"\(coordinate(from))\" width=\"\(coordinate(max(to - from, 1)))\" "
        + "y=\"\(coordinate(y(point.value)))\" height=\"\(coordinate(y(0) - y(point.value)))\"/>"
    }
    return text + "\n"
  }
}
