package import FormStreamMultipart
import FormStreamJSON
import FormStreamPlatform

/// How the runs of a manifest went, by their journals: over time, which files took long, and what went wrong. Memory does not
/// grow with the journals.
package struct RunHistory: Sendable {
  /// What a journal says about a file.
  package struct Entry: Sendable {
    package let path: LocalPath
    package let size: Int64
    package let state: String
    package let status: Int64?
    package let attempts: Int64
    /// Why the file was not accepted; nil if it was.
    package let reason: String?
    /// When the first request for the file began, in nanoseconds since 1970; nil if none did.
    package let begun: Int64?
    /// From then until the outcome was known, in nanoseconds.
    package let duration: Int64
  }

  /// The first lines of the journals, in the order in which the runs began.
  package private(set) var heads: [JournalHead] = []
  package private(set) var timeline: RunTimeline
  /// How long accepted files took.
  package private(set) var durations = DurationSpread()
  /// The files that took longest, the slowest first.
  package private(set) var slowest: [Entry] = []
  /// How many results there are, by their states, and the commonest errors. A file that was sent in several runs has several.
  package private(set) var totals = BatchTotals()
  /// How many files needed more than one request.
  package private(set) var repeated = 0
  /// How many results have no time, because they are of an earlier version.
  package private(set) var untimed = 0
  /// The last result of each file in question.
  package private(set) var entries: [LocalPath: Entry] = [:]
  private var ends: [LocalPath: Int64] = [:]

  private static let maximumSlowest = 20

  /// - Parameters:
  ///   - report: a report, whose last manifest is looked at.
  ///   - files: the files about which the last result is kept.
  package init(of report: BatchReport, keeping files: Set<LocalPath>) throws(BatchError) {
    let range = report.last.range
    let journals = report.last.journals.filter { $0.range.overlaps(range) }
      .sorted { $0.head.begun ?? 0 < $1.head.begun ?? 0 }
    heads = journals.map(\.head)
    timeline = RunTimeline(from: heads.lazy.compactMap(\.begun).first ?? 0)
    for journal in journals {
      try JournalReader.forEachLine(of: journal.path) { line throws(BatchError) in
        guard let times = Times(line), range.contains(times.offset) else { return }
        add(times, line, keeping: files)
      }
    }
  }

  /// What is needed of each record. Only a few records are read completely.
  fileprivate struct Times {
    var offset: Int64 = -1
    var begun: Int64?
    var ended: Int64?
    var size: Int64 = 0
    var attempts: Int64 = 0
    var state: BatchState?
    var hasError = false

    init?(_ line: UnsafeRawBufferPointer) {
      var members = JSONMembers(of: line)
      guard let first = members.next(), JournalRecord.isSchema(first) else { return nil }
      while let member = members.next() {
        switch member.key.count {
        case 8 where member.key.spells("begun_ns"): begun = member.number
        case 8 where member.key.spells("ended_ns"): ended = member.number
        case 6 where member.key.spells("offset"): offset = member.number ?? -1
        case 4 where member.key.spells("size"): size = member.number ?? 0
        case 8 where member.key.spells("attempts"): attempts = member.number ?? 0
        case 7 where member.key.spells("outcome"):
          state = member.text.flatMap { BatchState(rawValue: String(decoding: $0, as: UTF8.self)) }
        case 5 where member.key.spells("error"): hasError = !member.value.spells("null")
        default: break
        }
      }
      guard members.isComplete, state != nil else { return nil }
    }

    /// From the first request until the outcome was known. The clock may have been set back meanwhile.
    var duration: Int64 {
      guard let begun, let ended else { return 0 }
      let (difference, isTooLarge) = ended.subtractingReportingOverflow(begun)
      return isTooLarge ? 0 : max(difference, 0)
    }
  }

  private mutating func add(_ times: Times, _ line: UnsafeRawBufferPointer, keeping files: Set<LocalPath>) {
    guard let state = times.state else { return }
    totals.note(state, size: times.size)
    if times.attempts > 1 { repeated += 1 }
    if let ended = times.ended {
      timeline.add(from: times.begun, to: ended, acceptedBytes: state == .ok ? times.size : nil)
    } else {
      untimed += 1
    }
    let isSlow = times.begun != nil && (slowest.count < Self.maximumSlowest || times.duration > slowest.last?.duration ?? 0)
    if state == .ok, times.begun != nil { durations.add(times.duration) }
    guard isSlow || times.hasError || state != .ok, let value = try? JSONValue(parsing: Array(line)),
      let entry = Entry(value, times)
    else { return }
    if isSlow { addSlow(entry) }
    if let name = value.errorName { totals.note(error: name, entry.reason ?? "", of: entry.path) }
    if files.contains(entry.path), times.ended ?? 0 >= ends[entry.path] ?? 0 {
      (entries[entry.path], ends[entry.path]) = (entry, times.ended ?? 0)
    }
  }

  private mutating func addSlow(_ entry: Entry) {
    let place = slowest.firstIndex { $0.duration < entry.duration } ?? slowest.endIndex
    slowest.insert(entry, at: place)
    if slowest.count > Self.maximumSlowest { slowest.removeLast() }
  }
}

extension RunHistory.Entry {
  fileprivate init?(_ value: JSONValue, _ times: RunHistory.Times) {
    guard let path = (try? value.path("path")) ?? nil, let state = times.state else { return nil }
    self.path = path
    (size, self.state, attempts) = (times.size, state.rawValue, times.attempts)
    status = value["status"]?.integer
    reason = value["error"]?["message"]?.text
    (begun, duration) = (times.begun, times.duration)
  }
}

extension JSONValue {
  /// The name under which the error of a record is counted; nil if it has none.
  fileprivate var errorName: String? {
    guard let code = self["error"]?["code"]?.text else { return nil }
    return BatchTotals.name(ofError: code, status: self["status"]?.integer.flatMap(Int.init(exactly:)))
  }
}
