import FormStreamBatch
import FormStreamMultipart

/// The page of `report --html`: what became of the files, and how the runs of the last manifest went. It needs nothing else:
/// no script, no font, no connection.
struct ReportPage {
  let report: BatchReport
  /// The report for people.
  let lines: [String]
  let history: RunHistory

  /// The most rows of a table.
  private static let maximumRows = 100

  var text: String {
    let title = "Report: \(counted(report.files, "file", "files"))"
    let sections = [summary, runs, overTime, slowFiles, errors, unacceptedFiles].joined()
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
      <title>\(escaped(title))</title>
      <style>\(Self.style)</style>
      </head>
      <body>
      <main>
      <h1>\(escaped(title))</h1>
      \(sections)</main>
      </body>
      </html>

      """
  }

  // MARK: Sections

  private var summary: String {
    lines.map { "<p>\(shown($0))</p>\n" }.joined()
  }

  private var runs: String {
    guard !history.heads.isEmpty else { return "" }
    let rows = history.heads.prefix(Self.maximumRows).map { head in
      [head.begun.map { timeForPeople(nanosecondsSince1970: $0) } ?? "", head.shard ?? "", head.url]
    }
    let title = history.heads.count == 1 ? "The run" : "The runs"
    var text = "<h2>\(title)</h2>\n"
    if report.rounds > 1 {
      text +=
        "<p>From here to the commonest errors, the page is about the last of \(report.rounds) manifests: the last round, or the "
        + "last list of failed files that was sent.</p>\n"
    }
    text += table(title, ["Begun (UTC)", "Shard", "URL"], rows, of: history.heads.count)
    if history.heads.count > 1 {
      text += "<p>A file that several runs sent counts in each of them.</p>\n"
    }
    return text
  }

  private var overTime: String {
    guard let timeline = history.timeline else {
      return history.untimed > 0
        ? "<p>No result has a time that can be true: an earlier version of formstream wrote them, or the clock was wrong.</p>\n"
        : ""
    }
    let points = TimelinePoint.all(of: timeline)
    func chart(_ title: String, _ unit: TimeChart.Unit, isLine: Bool = true, _ value: (TimelinePoint) -> Double) -> String {
      TimeChart(
        title: title, unit: unit, length: timeline.length, points: points.map { ($0.end, value($0)) }, isLine: isLine
      ).text
    }
    var text = "<h2>Over time</h2>\n"
    if history.untimed > 0 {
      text +=
        "<p>\(counted(history.untimed, "result has", "results have")) no time that can be true, and no place in these "
        + "pictures.</p>\n"
    }
    text += chart("Files accepted so far", .number) { Double($0.accepted) }
    text += chart("Bytes accepted so far", .bytes) { Double($0.bytes) }
    text += chart("Files on their way, on average", .number, isLine: false, \.underWay)
    if timeline.pieces.contains(where: { $0.others > 0 }) {
      text += chart("Files that were not accepted", .number, isLine: false) { Double($0.others) }
    }
    return text + "<details><summary>The same as a table</summary>\n\(table(of: points))</details>\n"
  }

  /// At most 24 of the points, as a table.
  private func table(of points: [TimelinePoint]) -> String {
    let step = max(1, (points.count + 23) / 24)
    let rows = stride(from: 0, to: points.count, by: step).map { first in
      let group = points[first..<min(first + step, points.count)]
      let last = group[group.endIndex - 1]
      return [
        moment(last.end), "\(last.accepted)", HumanReadable.size(last.bytes),
        decimal(group.map(\.underWay).max() ?? 0, places: 1), "\(group.reduce(0) { $0 + $1.others })",
      ]
    }
    return table(
      "Over time", ["Until", "Accepted so far", "Bytes", "On their way, on average at most", "Not accepted"], rows,
      of: rows.count, numbers: 0...4)
  }

  private var slowFiles: String {
    guard !history.slowest.isEmpty else { return "" }
    var text = "<h2>How long files took</h2>\n"
    if let half = history.durations.quantile(0.5), let most = history.durations.quantile(0.9),
      let almostAll = history.durations.quantile(0.99)
    {
      text +=
        "<p>Half of the accepted files took at most \(length(half)), 90 of 100 at most \(length(most)), 99 of 100 at most "
        + "\(length(almostAll)), and the slowest of them \(length(.nanoseconds(history.durations.longest))), from the first "
        + "request until the outcome was known.</p>\n"
    }
    if history.repeated > 0 {
      text += "<p>\(counted(history.repeated, "result", "results")) took more than one request.</p>\n"
    }
    let rows = history.slowest.map { entry in
      [
        entry.path.description, HumanReadable.size(entry.size), length(.nanoseconds(entry.duration)), "\(entry.attempts)",
        entry.state.rawValue, entry.status.map(String.init) ?? "",
      ]
    }
    return text + "<h3>What took longest</h3>\n"
      + table(
        "What took longest", ["File", "Size", "Took", "Requests", "Outcome", "Status"], rows, of: rows.count, numbers: 1...3)
  }

  private var errors: String {
    let errors = history.totals.commonestErrors(Self.maximumRows)
    guard !errors.isEmpty else { return "" }
    return "<h2>The commonest errors</h2>\n"
      + table(
        "The commonest errors", ["Error", "Times", "For example"], errors.map { [$0.name, "\($0.count)", $0.example] },
        of: errors.count)
  }

  private var unacceptedFiles: String {
    guard !report.unaccepted.isEmpty else { return "" }
    let rows = zip(report.unaccepted, history.unaccepted).map { file, entry in
      [
        file.path.description, file.state?.rawValue ?? "missing", entry?.status.map(String.init) ?? "",
        file.explanation(by: entry),
      ]
    }
    return "<h2>Files that were not accepted</h2>\n"
      + table(
        "Files that were not accepted", ["File", "Outcome", "Status", "Why"], rows,
        of: report.files - (report.states[.ok] ?? 0))
  }

  // MARK: Tables

  private func length(_ duration: Duration) -> String {
    duration < .milliseconds(1) ? "under 1 ms" : HumanReadable.elapsed(duration)
  }

  /// A time after the start, exact enough to tell the rows of a table apart.
  private func moment(_ nanoseconds: Int64) -> String {
    nanoseconds >= 1_000_000_000 && nanoseconds < 60_000_000_000
      ? "\(decimal(Double(nanoseconds) / 1e9, places: 2)) s" : HumanReadable.elapsed(.nanoseconds(nanoseconds))
  }

  /// - Parameters:
  ///   - name: what readers who can't see the table hear first.
  ///   - count: how many rows there would be if there were no limit.
  ///   - numbers: the columns whose values are numbers.
  private func table(
    _ name: String, _ head: [String], _ rows: [[String]], of count: Int, numbers: ClosedRange<Int>? = nil
  ) -> String {
    func row(_ cells: [String], isHead: Bool) -> String {
      let cells = cells.enumerated().map { index, cell in
        let (tag, scope) = isHead ? ("th", " scope=\"col\"") : index == 0 ? ("th", " scope=\"row\"") : ("td", "")
        let kind = numbers?.contains(index) == true ? " class=\"number\"" : ""
        return "<\(tag)\(scope)\(kind)>\(shown(cell))</\(tag)>"
      }
      return "<tr>\(cells.joined())</tr>\n"
    }
    let rest = count > rows.count ? "<p>And \(counted(count - rows.count, "other", "others")).</p>\n" : ""
    return "<div class=\"wide\" role=\"region\" aria-label=\"\(escaped(name))\" tabindex=\"0\"><table>\n"
      + "<thead>\(row(head, isHead: true))</thead>\n<tbody>\n" + rows.map { row($0, isHead: false) }.joined()
      + "</tbody></table></div>\n" + rest
  }

  /// Text that the page shows as it is: neither markup nor characters that hide or reverse text.
  private func shown(_ text: String) -> String { escaped(visible(text)) }

  private static let style = """

    :root { color-scheme: light dark; --back: #ffffff; --ink: #1b1f24; --grid: #d5d9de; --line: #0b63c4; --soft: #f4f6f8; }
    @media (prefers-color-scheme: dark) {
    :root { --back: #14181d; --ink: #e8ebee; --grid: #3a424b; --line: #6cb2ff; --soft: #1d232a; }
    }
    body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
    main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
    figure { margin: 1rem 0; }
    figcaption { font-weight: 600; }
    svg { width: 100%; height: auto; }
    svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
    .grid { stroke: var(--grid); }
    .line { fill: none; stroke: var(--line); stroke-width: 2; stroke-linejoin: round; }
    .bar { fill: var(--line); }
    .wide { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; font-size: 14px; }
    th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--grid); }
    td, tbody th { overflow-wrap: anywhere; min-width: 3rem; font-weight: normal; }
    tbody th { min-width: 12rem; }
    thead th { background: var(--soft); }
    .number { text-align: right; white-space: nowrap; }

    """
}

/// A moment of a run, with what had happened until then.
private struct TimelinePoint {
  /// Nanoseconds after the start.
  let end: Int64
  let accepted: Int
  let bytes: Int64
  /// How many files were on their way, on average since the point before.
  let underWay: Double
  /// How many files ended in another way since the point before.
  let others: Int

  static func all(of timeline: RunTimeline) -> [TimelinePoint] {
    var (accepted, bytes) = (0, Int64(0))
    return timeline.pieces.enumerated().map { index, piece in
      accepted += piece.accepted
      bytes = bytes.addingClamped(piece.bytes)
      let begin = Int64(index) * timeline.width
      let end = min(begin + timeline.width, timeline.length)
      return TimelinePoint(
        end: end, accepted: accepted, bytes: bytes, underWay: piece.underWay / Double(max(end - begin, 1)),
        others: piece.others)
    }
  }
}
