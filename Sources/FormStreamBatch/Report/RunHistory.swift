package import FormStreamMultipart
import FormStreamJSON
import FormStreamPlatform

/// How the runs of a report's last manifest went, by their journals: over time, what took long, and what went wrong. Memory does
/// not grow with the journals.
package struct RunHistory: Sendable {
  /// What a journal says about a file.
  package struct Entry: Sendable {
    package let path: LocalPath
    package let size: Int64
    package let state: BatchState
    package let status: Int64?
    package let attempts: Int64
    /// Why the file was not accepted; nil if it was.
    fileprivate let reason: String?
    /// What the server said about a file that it refused; nil if it said nothing.
    let words: ServerWords?
    /// Why the file was not accepted, with the server's own words; nil if it was.
    package var explanation: String? { reason.map { ServerWords.adding(words, to: $0) } }
    /// What the server said about the file or, if it said nothing, why the file was not accepted.
    package var shortReason: String? { isAboutFolder ? explanation : words?.text ?? reason }
    /// Whether the server's words are about the file's folder, which they may not name.
    fileprivate let isAboutFolder: Bool
    /// From the first request until the outcome was known, in nanoseconds.
    package let duration: Int64
    fileprivate let offset: Int64
  }

  /// The first lines of the journals, in the order in which the runs began.
  package private(set) var heads: [JournalHead] = []
  /// What happened when; nil if no result has a time that can be true.
  package private(set) var timeline: RunTimeline?
  /// How long accepted files took.
  package private(set) var durations = DurationSpread()
  /// What took longest, the slowest first; each file once.
  package private(set) var slowest: [Entry] = []
  /// How many results there are, by their states, and the commonest errors. A file that several runs sent has several results.
  package private(set) var totals = BatchTotals()
  /// How many results needed more than one request.
  package private(set) var repeated = 0
  /// How many results have no time, or one that can't be true.
  package private(set) var untimed = 0
  /// Of each file in ``BatchReport/unaccepted``, a result with the state that the report counts; nil if there is none.
  package private(set) var unaccepted: [Entry?] = []

  private static let maximumSlowest = 20
  /// The beginning of 2026, in nanoseconds since 1970. No version before wrote times, so the clock was wrong.
  private static let earliestTime: Int64 = 1_767_225_600_000_000_000
  /// No clock is more than a day fast.
  private let latestTime = nanosecondsSince1970().addingClamped(86_400_000_000_000)

  package init(of report: BatchReport) throws(BatchError) {
    unaccepted = report.unaccepted.map { Entry($0.record) }
    for (number, sources) in report.sources.enumerated() {
      var wanted: [Int64: Int] = [:]
      for (index, file) in report.unaccepted.enumerated() where file.manifest == sources.manifest {
        wanted[file.offset] = index
      }
      let isLast = number == report.sources.count - 1
      guard isLast || !wanted.isEmpty else { continue }
      let journals = Self.journals(of: sources)
      if isLast { heads = journals.map(\.head) }
      try Self.forEachResult(in: journals, of: sources.range) { result, line in
        if isLast { count(result, line) }
        if let index = wanted[result.offset], report.unaccepted[index].state == result.state {
          unaccepted[index] = Entry(line, result)
        }
      }
    }
  }

  /// Of each file, a result with the state that the report counts; nil if there is none.
  static func results(
    of files: [BatchReport.Unaccepted], in report: BatchReport
  ) throws(BatchError) -> [Entry?] {
    var results = files.map { Entry($0.record) }
    for sources in report.sources {
      var wanted: [Int64: Int] = [:]
      for (index, file) in files.enumerated() where file.manifest == sources.manifest { wanted[file.offset] = index }
      guard !wanted.isEmpty else { continue }
      try forEachResult(in: journals(of: sources), of: sources.range) { result, line in
        if let index = wanted[result.offset], files[index].state == result.state { results[index] = Entry(line, result) }
      }
    }
    return results
  }

  /// The journals of a manifest, in the order in which their runs began.
  private static func journals(of sources: BatchReport.Sources) -> [JournalSummary] {
    sources.journals.filter { $0.range.overlaps(sources.range) }.sorted { $0.head.begun ?? 0 < $1.head.begun ?? 0 }
  }

  private static func forEachResult(
    in journals: [JournalSummary], of range: Range<Int64>, _ receive: (Result, UnsafeRawBufferPointer) -> Void
  ) throws(BatchError) {
    for journal in journals {
      try JournalReader.forEachLine(of: journal.path) { line throws(BatchError) in
        if let result = Result(line), range.contains(result.offset) { receive(result, line) }
      }
    }
  }

  /// The members of a record that every record is read for. Few records are read completely.
  fileprivate struct Result {
    var offset: Int64 = -1
    var begun: Int64?
    var ended: Int64?
    var seconds = 0.0
    var size: Int64 = 0
    var attempts: Int64 = 0
    var state: BatchState
    var hasError = false

    init?(_ line: UnsafeRawBufferPointer) {
      var members = JSONMembers(of: line)
      guard let first = members.next(), JournalRecord.isSchema(first) else { return nil }
      var state: BatchState?
      self.state = .unknown
      while let member = members.next() {
        switch member.key.count {
        case 6 where member.key.spells("offset"): offset = member.number ?? -1
        case 8 where member.key.spells("begun_ns"): begun = member.number
        case 8 where member.key.spells("ended_ns"): ended = member.number
        case 7 where member.key.spells("seconds"):
          seconds = Double(String(decoding: member.value, as: UTF8.self)) ?? 0
        case 4 where member.key.spells("size"): size = max(member.number ?? 0, 0)
        case 8 where member.key.spells("attempts"): attempts = member.number ?? 0
        case 7 where member.key.spells("outcome"):
          state = member.text.flatMap { BatchState(rawValue: String(decoding: $0, as: UTF8.self)) }
        case 5 where member.key.spells("error"): hasError = !member.value.spells("null")
        default: break
        }
      }
      guard members.isComplete, let state else { return nil }
      self.state = state
    }
  }

  /// A time, unless the clock was certainly wrong.
  private func plausible(_ time: Int64?) -> Int64? {
    guard let time, time >= Self.earliestTime, time <= latestTime else { return nil }
    return time
  }

  /// From the first request until the outcome was known, in nanoseconds; nil if there was no request. If the clock was set
  /// meanwhile, it is the time of the requests alone.
  private func duration(of result: Result) -> Int64? {
    guard result.attempts > 0 else { return nil }
    let ofRequests = Int64(exactly: (result.seconds * 1e9).rounded()) ?? 0
    guard let begun = plausible(result.begun), let ended = plausible(result.ended) else { return ofRequests }
    return max(ended - begun, ofRequests)
  }

  private mutating func count(_ result: Result, _ line: UnsafeRawBufferPointer) {
    totals.note(result.state, size: result.size)
    if result.attempts > 1 { repeated += 1 }
    if let ended = plausible(result.ended) {
      let begun = plausible(result.begun)
      if timeline == nil {
        let starts = heads.compactMap { plausible($0.begun) }
        timeline = RunTimeline(from: starts.min() ?? begun ?? ended)
      }
      timeline?.add(from: begun, to: ended, acceptedBytes: result.state == .ok ? result.size : nil)
    } else {
      untimed += 1
    }
    let duration = duration(of: result)
    if result.state == .ok, let duration { durations.add(duration) }
    let isSlow = duration.map { slowest.count < Self.maximumSlowest || $0 > slowest.last?.duration ?? 0 } ?? false
    guard isSlow || result.hasError, let value = try? JSONValue(parsing: Array(line)),
      let entry = Entry(value, result, duration: duration ?? 0)
    else { return }
    if isSlow { noteSlow(entry) }
    if let name = value.errorName { totals.note(error: name, entry.explanation ?? "", of: entry.path) }
  }

  private mutating func noteSlow(_ entry: Entry) {
    if let earlier = slowest.firstIndex(where: { $0.offset == entry.offset }) {
      guard slowest[earlier].duration < entry.duration else { return }
      slowest.remove(at: earlier)
    }
    let place = slowest.firstIndex { $0.duration < entry.duration } ?? slowest.endIndex
    slowest.insert(entry, at: place)
    if slowest.count > Self.maximumSlowest { slowest.removeLast() }
  }
}

extension RunHistory.Entry {
  /// Reads a record of a journal; nil if it is none.
  fileprivate init?(_ record: [UInt8]) {
    guard !record.isEmpty,
      let entry = record.withUnsafeBytes({ line in RunHistory.Result(line).flatMap { RunHistory.Entry(line, $0) } })
    else { return nil }
    self = entry
  }

  /// An entry whose duration nobody asks for.
  fileprivate init?(_ line: UnsafeRawBufferPointer, _ result: RunHistory.Result) {
    guard let value = try? JSONValue(parsing: Array(line)) else { return nil }
    self.init(value, result, duration: 0)
  }

  fileprivate init?(_ value: JSONValue, _ result: RunHistory.Result, duration: Int64) {
    guard let path = (try? value.path("path")) ?? nil else { return nil }
    (self.path, self.duration) = (path, duration)
    (offset, size, state, attempts) = (result.offset, result.size, result.state, result.attempts)
    status = value["status"]?.integer
    reason = value["error"]?["message"]?.text
    isAboutFolder = value["error"]?["code"]?.text == BatchError.Code.folderNotMade.rawValue
    words = ServerWords(inRecord: value)
  }
}

extension JSONValue {
  /// The name under which the error of a record is counted; nil if it has none.
  fileprivate var errorName: String? {
    guard let code = self["error"]?["code"]?.text else { return nil }
    return BatchTotals.name(ofError: code, status: self["status"]?.integer.flatMap(Int.init(exactly:)))
  }
}
