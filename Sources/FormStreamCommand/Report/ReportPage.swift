import FormStreamBatch
import FormStreamMultipart

/// The page of `report --html`: what became of the files, and how the runs of the last manifest went. It needs nothing else:
/// no script, no font, no connection.
struct ReportPage {
  let report: BatchReport
  /// The report for people.
  let lines: [String]
  let history: RunHistory
  /// The first files that were not accepted.
  let unaccepted: [BatchFile]

  /// The most rows of a table.
  static let maximumRows = 100

  var text: String {
    let title = "Report: \(counted(report.files, "file", "files"))"
    let sections = [summary, runs, overTime, slowFiles, unacceptedFiles, errors].joined()
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
    let rows = history.heads.prefix(Self.maximumRows).map { head in
      [head.begun.map { timeForPeople(nanosecondsSince1970: $0) } ?? "", head.shard ?? "", head.url]
    }
    let rounds = report.rounds > 1 ? " of the last manifest" : ""
    return "<h2>\(history.heads.count == 1 ? "The run" : "The runs")\(rounds)</h2>\n"
      + table(["Begun (UTC)", "Shard", "URL"], rows, of: history.heads.count)
  }

  private var overTime: String {
    guard history.timeline.length > 0 else {
      return history.untimed > 0
        ? "<p>The journals have no times: an earlier version of formstream wrote them.</p>\n" : ""
    }
    let points = TimelinePoint.all(of: history.timeline)
    func chart(_ title: String, _ unit: TimeChart.Unit, isLine: Bool = true, _ value: (TimelinePoint) -> Double) -> String {
      TimeChart(
        title: title, unit: unit, length: history.timeline.length, points: points.map { ($0.end, value($0)) }, isLine: isLine
      ).text
    }
    var text = "<h2>Over time</h2>\n"
    if history.untimed > 0 {
      text += "<p>\(counted(history.untimed, "result has", "results have")) no time, and no place in these pictures.</p>\n"
    }
    text += chart("Files accepted so far", .number) { Double($0.accepted) }
    text += chart("Bytes accepted so far", .bytes) { Double($0.bytes) }
    text += chart("Files on their way", .number, isLine: false, \.underWay)
    if history.timeline.pieces.contains(where: { $0.others > 0 }) {
      text += chart("Files that ended in another way, in each moment", .number, isLine: false) { Double($0.others) }
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
        HumanReadable.elapsed(.nanoseconds(last.end)), "\(last.accepted)", HumanReadable.size(last.bytes),
        decimal(group.map(\.underWay).max() ?? 0, places: 1), "\(group.reduce(0) { $0 + $1.others })",
      ]
    }
    return table(
      ["Until", "Files accepted so far", "Bytes", "On their way, at most", "Ended in another way"], rows, of: rows.count,
      firstNumber: 0)
  }

  private var slowFiles: String {
    guard let half = history.durations.quantile(0.5), let most = history.durations.quantile(0.9),
      let almostAll = history.durations.quantile(0.99)
    else { return "" }
    let longest = HumanReadable.elapsed(.nanoseconds(history.durations.longest))
    let rows = history.slowest.map { entry in
      [
        entry.path.description, HumanReadable.size(entry.size), HumanReadable.elapsed(.nanoseconds(entry.duration)),
        "\(entry.attempts)", entry.state, entry.status.map(String.init) ?? "",
      ]
    }
    let repeated =
      history.repeated > 0 ? " \(counted(history.repeated, "file", "files")) took more than one request." : ""
    return """
      <h2>How long files took</h2>
      <p>Half of the accepted files took at most \(HumanReadable.elapsed(half)), 90 of 100 at most \
      \(HumanReadable.elapsed(most)), 99 of 100 at most \(HumanReadable.elapsed(almostAll)), and the slowest \
      \(longest), from the first request until the outcome was known.\(repeated)</p>
      <h3>The slowest</h3>
      \(table(["File", "Size", "Took", "Requests", "Outcome", "Status"], rows, of: rows.count, firstNumber: 1))
      """
  }

  private var unacceptedFiles: String {
    let count = report.files - (report.states[.ok] ?? 0)
    guard count > 0 else { return "" }
    let rows = unaccepted.map { file in
      guard let entry = history.entries[file.path] else {
        return [
          file.path.description, "no result", "",
          file.maybeDuplicate
            ? "No journal says what became of it, and the server may have it." : "It was not sent.",
        ]
      }
      return [file.path.description, entry.state, entry.status.map(String.init) ?? "", entry.reason ?? ""]
    }
    return "<h2>Files that were not accepted</h2>\n"
      + table(["File", "Outcome", "Status", "Why"], rows, of: count)
  }

  private var errors: String {
    let errors = history.totals.commonestErrors(Self.maximumRows)
    guard !errors.isEmpty else { return "" }
    return "<h2>The commonest errors</h2>\n"
      + table(
        ["Error", "Files", "For example"], errors.map { [$0.name, "\($0.count)", $0.example] }, of: errors.count)
  }

  // MARK: Tables

  /// - Parameters:
  ///   - count: how many rows there would be if there were no limit.
  ///   - firstNumber: the first of the columns whose values are numbers; nil if they are texts.
  private func table(_ head: [String], _ rows: [[String]], of count: Int, firstNumber: Int? = nil) -> String {
    func row(_ cells: [String], _ tag: String) -> String {
      let cells = cells.enumerated().map { index, cell in
        let kind = firstNumber.map { index >= $0 } ?? false ? " class=\"number\"" : ""
        return "<\(tag)\(tag == "th" ? " scope=\"col\"" : "")\(kind)>\(shown(cell))</\(tag)>"
      }
      return "<tr>\(cells.joined())</tr>\n"
    }
    let rest = count > rows.count ? "<p>And \(counted(count - rows.count, "other", "others")).</p>\n" : ""
    return "<div class=\"wide\" tabindex=\"0\"><table>\n<thead>\(row(head, "th"))</thead>\n<tbody>\n"
      + rows.map { row($0, "td") }.joined() + "</tbody></table></div>\n" + rest
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
    td { overflow-wrap: anywhere; min-width: 3rem; }
    td:first-child { min-width: 12rem; }
    th { background: var(--soft); }
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
