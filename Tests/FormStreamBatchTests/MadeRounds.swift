import FormStreamHTTP
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Foundation

@testable import FormStreamBatch

/// A directory of journals of made-up rounds, as runs would have written it.
final class MadeRounds {
  let place: TemporaryDirectory
  var directory: LocalPath { place.local("j") }
  private(set) var rounds = 0
  /// A clock that the rounds go by, in seconds since 1970. Sometimes it is set back.
  private var clock: Int64 = 1_780_000_000
  private var draw: SeededSequence
  /// The versions of the files that are there.
  private var versions: [String: (size: Int64, modified: Int64)] = [:]
  private static let names = ["a", "b", "c", "d/e", "d/f", "d/g/h", "dx", "z"]
  /// Whether files change in most rounds, and mostly nobody knows whether the server has them.
  private let areDoubtful: Bool

  init(seed: UInt64, areDoubtful: Bool = false, in place: TemporaryDirectory) throws {
    (self.place, draw, self.areDoubtful) = (place, SeededSequence(seed: seed), areDoubtful)
    try makeDirectory(place.local("j"))
  }

  private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &draw) < percent }

  private func uuid() -> String {
    let digits = Array((0..<32).map { _ in String(Int.random(in: 0..<16, using: &draw), radix: 16) }.joined())
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
  }

  /// The next listing: some files are new, changed, gone, back, or can't be read.
  func listing() -> [BatchFile] {
    for name in Self.names {
      if chance(15) {
        versions[name] = nil
      } else if versions[name] == nil || chance(areDoubtful ? 70 : 20) {
        let most: Int64 = areDoubtful ? 9 : 2
        versions[name] = (Int64.random(in: 1...most, using: &draw), Int64.random(in: 1...most, using: &draw))
      }
    }
    let isHidden = chance(8)
    var files: [BatchFile] = []
    for name in Self.names where !(isHidden && name.hasPrefix("d/")) {
      guard let version = versions[name] else { continue }
      var file = BatchFile.made(name, size: version.size, modified: version.modified)
      if chance(6) { file.problem = BatchError(.inputUnreadable, on: name, "It can't be read.") }
      files.append(file)
    }
    if isHidden {
      var hidden = BatchFile.made("d", size: 0, modified: 0)
      hidden.problem = BatchError(.inputUnreadable, on: "d", "It can't be listed.")
      hidden.isDirectory = true
      files.append(hidden)
    }
    return files
  }

  /// Adds a round: its manifest, and the journals of its runs. Returns whether there was anything to send or to note.
  @discardableResult func add() throws -> Bool {
    let earlier = try EarlierManifests(of: JournalSet(in: [directory]), taking: .rounds(in: directory))
    var comparison = RoundComparison(RoundRules(), against: earlier, after: rounds, in: LocalPath(place.path))
    if let state = earlier.journals.state { try comparison.add(state) }
    for path in earlier.paths { try comparison.add(path, boot: "b") }
    var entries = try comparison.compare(MadeListing(listing()))
    guard !entries.isEmpty else { return false }
    rounds += 1
    let encoder = ManifestEncoder(
      root: "/r", id: uuid(), listing: "l", hasOneRoot: true, round: entries.round, journals: earlier.unnamedRuns)
    var bytes = encoder.header
    while let piece = try entries.nextPiece() { bytes += piece }
    let path = place.local("j/\(RecordedRounds.name(of: rounds).bytes.text)")
    try writeFile(path, bytes)
    clock += chance(5) ? -1_000_000 : 1000
    for _ in 0..<Int.random(in: 1...2, using: &draw) { try addJournal(of: path) }
    if chance(25) { try addFailedList(of: path) }
    if chance(20) { try addFailedList(ofRound: Int.random(in: 1...rounds, using: &draw)) }
    return true
  }

  /// A list of some files of an earlier round, which is sent now.
  func addFailedList(ofRound number: Int) throws {
    let path = place.local("j/\(RecordedRounds.name(of: number).bytes.text)")
    if FileManager.default.fileExists(atPath: path.description) { try addFailedList(of: path) }
  }

  /// A list of some files of a round, which is sent.
  private func addFailedList(of path: LocalPath) throws {
    let reader = try ManifestReader(path)
    var encoder = ManifestEncoder(
      root: "/r", id: uuid(), hasOneRoot: true, round: reader.round, parent: reader.id, isFailedList: true)
    var bytes = encoder.header
    while let file = try reader.next() {
      guard chance(50) else { continue }
      var again = file.again(isDoubtful: chance(30), isChanged: false, keepsIndex: true)
      if file.problem == nil, chance(10) { again.size += 1 }
      bytes += encoder.line(for: again)
    }
    let list = place.local("j/failed-\(encoder.id).jsonl")
    guard bytes.count > encoder.header.count else { return }
    try writeFile(list, bytes)
    try addJournal(of: list, parent: reader.id)
  }

  /// The journal of a run that sends some files of a manifest.
  private func addJournal(of path: LocalPath, parent: String? = nil) throws {
    let run = uuid()
    let begun = clock
    var lines: [UInt8] = JournalHead(
      manifest: try ManifestReader.header(of: path).id, shard: nil, url: "http://h/", boot: chance(90) ? "b" : "other",
      isHarmlessTwice: chance(40), manifestPath: parent == nil ? nil : path, parent: parent, begun: begun * 1_000_000_000,
      run: run
    ).json.line()
    let reader = try ManifestReader(path)
    while let file = try reader.next() {
      // A list whose journal mentions no file says nothing.
      guard chance(90) || parent != nil && file.index == 0 else { continue }
      lines += JournalMark.started(file.offset).line()
      if chance(5) { lines += JournalMark.accepted(file.offset, AcceptedSlices(bytes: chance(70) ? 1 : 0, changed: 7)).line() }
      guard chance(93) else { continue }
      let outcomes = ["ok", "ok", "ok", "ok", "failed", "unknown", "retryable", "source-changed"]
      let outcome = areDoubtful && chance(80) ? "unknown" : outcomes.randomElement(using: &draw) ?? "ok"
      let isMarked = chance(10)
      let error = outcome == "ok" ? "null" : #"{"code":"status-refused","message":"It \"failed\" \#(clock)."}"#
      lines += Array(
        (#"{"schema":"formstream.record/2","index":0,"offset":\#(file.offset),"path":"\#(file.path)","path_b64":null,"#
          + #""size":\#(file.size),"mtime_ns":\#(file.modified),"sha256":null,"status":\#(outcome == "ok" ? 200 : 500),"#
          + #""outcome":"\#(outcome)","attempts":1,"maybe_duplicate":\#(isMarked),"seconds":0.1,"#
          + #""response":{"body":"no\nroom \#(clock)","body_b64":null,"truncated":false},"error":\#(error)}"# + "\n").utf8)
    }
    if chance(3) { lines += Array("{torn\n".utf8) }
    if chance(85) { lines += JournalMark.closed(isComplete: true).line() }
    let name = "j/journal-all-\(run).jsonl"
    try place.write(name, lines)
    clock += 100
    try setTimes(of: place.path(name), to: clock)
  }

  /// Notes that somebody has looked at all that may have been accepted twice.
  func settle() throws {
    let report = try Answers(of: self).report
    try SettledDoubts.settle(report.doubts, report.damaged, in: directory)
  }

  /// Sums up the rounds before the last ones.
  func sumUp(keeping kept: Int, window: Int64 = 1 << 28) throws -> Bool {
    let earlier = try EarlierManifests(of: JournalSet(in: [directory]), taking: .rounds(in: directory))
    var writer = try StateWriter(
      earlier, in: directory, sliceSize: nil, temporaryDirectory: LocalPath(place.path), window: window)
    return try writer.sumUp(through: rounds - kept, boot: "b")
  }

  /// Removes all files that the state sums up.
  func removeSummedUp() throws {
    guard case .usable(let state) = try RecordedState.find(in: directory) else { return }
    for name in state.manifests.files.keys { try? FileManager.default.removeItem(atPath: place.path("j/\(name.text)")) }
  }

  /// What the next round has to send, and what a report says.
  struct Answers: Equatable {
    var lines: [String]
    var round: String
    var texts: [String] = []
    let report: BatchReport

    init(of made: MadeRounds, listing: [BatchFile] = []) throws {
      let earlier = try EarlierManifests(of: JournalSet(in: [made.directory]), taking: .rounds(in: made.directory))
      try earlier.checkRounds()
      let temporary = LocalPath(made.place.path)
      var comparison = RoundComparison(RoundRules(), against: earlier, after: made.rounds, in: temporary)
      if let state = earlier.journals.state { try comparison.add(state) }
      for path in earlier.paths { try comparison.add(path, boot: "b") }
      var entries = try comparison.compare(MadeListing(listing))
      lines = try entries.lines()
      round = "\(entries.round)"
      let failures = FailureList(in: temporary)
      var texts: [String] = []
      report = try BatchReport(
        on: earlier.paths, in: [made.directory], boot: "b", temporaryDirectory: temporary, summedUp: earlier.journals,
        failures: failures, accepted: { texts.append("accepted \($0.path) \($0.size) \($0.modified)") }, begin: { _ in },
        rest: { texts.append(String(decoding: ManifestEncoder.line(for: $0), as: UTF8.self)) })
      try failures.forEach(of: report) {
        texts.append("\($0.path) \($0.state?.rawValue ?? "-") \($0.status ?? 0) \($0.text)")
      }
      for entry in try RunHistory(of: report).unaccepted { texts.append("\(entry?.explanation ?? "-")") }
      texts.append(String(decoding: report.record(shard: nil, exit: 0).line(), as: UTF8.self))
      texts.append("\(report.settledJournals) \(report.damaged.map(\.name).sorted())")
      self.texts = texts
    }

    static func == (one: Self, other: Self) -> Bool {
      (one.lines, one.round, one.texts) == (other.lines, other.round, other.texts)
    }

    /// The first difference, for people.
    func difference(from other: Self) -> String {
      for (one, another) in [(lines, other.lines), (texts, other.texts)] where one != another {
        let place = zip(one, another).enumerated().first { $0.element.0 != $0.element.1 }
        return "\(place.map { "\($0.element.0)\n\($0.element.1)" } ?? "\(one.count) and \(another.count) lines")"
      }
      return "\(round) \(other.round)"
    }
  }
}

extension [UInt8] {
  var text: String { String(decoding: self, as: UTF8.self) }
}

/// Sets when a file was last written to, in seconds since 1970.
private func setTimes(of path: String, to seconds: Int64) throws {
  try FileManager.default.setAttributes(
    [.modificationDate: Date(timeIntervalSince1970: Double(seconds))], ofItemAtPath: path)
}
