import Foundation
import FormStreamMultipart
import FormStreamJSON
import FormStreamTestSupport
import Testing

@testable import FormStreamBatch

@Suite struct ReportTests {
  private let place: TemporaryDirectory
  private let manifest: LocalPath
  private let id: String
  /// Where the records of the files begin.
  private let offsets: [Int64]

  private static let names = ["a", "b", "c", "d", "e", "f"]

  init() throws {
    place = try TemporaryDirectory(inMemory: true)
    var encoder = ManifestEncoder(root: LocalPath(place.path))
    var (bytes, offsets) = (encoder.header, [Int64]())
    for (index, name) in Self.names.enumerated() {
      offsets.append(encoder.offset)
      bytes += encoder.line(
        for: BatchFile(path: LocalPath(name), size: Int64(index + 1), modified: 5))
    }
    manifest = try place.write("manifest", bytes)
    id = encoder.id
    self.offsets = offsets
    try makeDirectory(place.local("journals"))
  }

  /// Writes a journal: for each file the outcomes of its requests. The mark is that of `maybe_duplicate`; without an
  /// outcome there is only the start.
  private func journal(
    _ name: String, _ lines: [(file: Int, outcome: String?, mark: Bool)], isClosed: Bool = true,
    manifest: String? = nil, isHarmlessTwice: Bool = false, code: String = "status-refused",
    torn: String = "", url: String = "http://x/", sliceSize: Int64? = nil,
    in directory: String = "journals"
  ) throws {
    let head = JournalHead(
      manifest: manifest ?? id, shard: nil, url: url, boot: "b",
      isHarmlessTwice: isHarmlessTwice, sliceSize: sliceSize)
    var text = String(decoding: head.json.line(), as: UTF8.self)
    for line in lines {
      let offset = offsets[line.file]
      text += #"{"schema":"formstream.started/1","offset":\#(offset)}"# + "\n"
      guard let outcome = line.outcome else { continue }
      let error = outcome == "ok" ? "null" : #"{"code":"\#(code)","message":"It \"failed\"."}"#
      text +=
        #"{"schema":"formstream.record/1","manifest":"\#(id)","index":0,"offset":\#(offset),"path":"x","#
        + #""path_b64":null,"size":1,"mtime_ns":1,"type":null,"type_source":null,"sha256":null,"url":"http://x/","#
        + #""status":200,"outcome":"\#(outcome)","attempts":1,"maybe_duplicate":\#(line.mark),"bytes_sent":1,"#
        + #""seconds":0.1,"response":{"body":"{\"maybe_duplicate\":true,\"error\":{\"code\":\"input-missing\"}}","#
        + #""body_b64":null,"truncated":false},"error":\#(error)}"# + "\n"
    }
    if isClosed { text += #"{"schema":"formstream.closed/1"}"# + "\n" }
    try place.write("\(directory)/journal-\(name).jsonl", text + torn)
  }

  private func report(
    shard: Shard? = nil, window: Int64 = 1 << 30, in directories: [String] = ["journals"],
    boot: String = "b", _ rest: (BatchFile) -> Void = { _ in }
  ) throws -> BatchReport {
    try BatchReport(
      on: [manifest], shard: shard, in: directories.map(place.local), boot: boot, window: window,
      begin: { _ in }, rest: rest)
  }

  @Test func `files that were accepted once each are complete`() throws {
    try journal("1", [(0, "ok", false), (1, "ok", false), (2, "retryable", false)])
    try journal("2", [(2, "ok", false), (3, "ok", false), (4, "ok", false), (5, "ok", false)])
    let report = try report { Issue.record("\($0.path)") }
    #expect(report.isComplete)
    #expect(report.states == [.ok: 6])
    #expect((report.files, report.bytes, report.missing) == (6, 21, 0))
    #expect((report.journals, report.openJournals) == (2, 0))
    #expect(report.manifest == id)
  }

  @Test func `each file counts once, in the state that matters most`() throws {
    try journal(
      "1",
      [
        (0, "retryable", false), (1, "failed", false), (2, nil, false),
        (3, "source-changed", false),
      ])
    try journal(
      "2",
      [
        (0, "source-changed", false), (1, "retryable", false), (2, "failed", false),
        (4, "ok", true),
      ])
    let report = try report()
    #expect(!report.isComplete)
    #expect(report.states == [.sourceChanged: 2, .failed: 1, .unknown: 1, .ok: 1])
    #expect((report.missing, report.duplicates, report.maybeDuplicates) == (1, 0, 1))
    #expect(report.unreadable == 0)
  }

  @Test func `a file that could not be read is counted apart`() throws {
    try journal("1", [(0, "failed", false)], code: "input-missing")
    try journal("2", [(1, "failed", false)], code: "connect-failed")
    let report = try report()
    #expect(report.states == [.failed: 2])
    #expect(report.unreadable == 1)
  }

  @Test func `a file that was accepted twice is a duplicate, unless that is harmless`() throws {
    try journal("1", [(0, "ok", false), (1, nil, false), (2, "unknown", false)], isClosed: false)
    try journal("2", [(0, "ok", false), (1, "ok", false), (2, "ok", true), (3, "ok", false)])
    let marked = try report()
    #expect((marked.duplicates, marked.maybeDuplicates) == (1, 2))
    #expect(marked.states == [.ok: 4])
    #expect(marked.openJournals == 1)

    try journal(
      "1", [(0, "ok", false), (1, nil, false), (2, "unknown", false)], isHarmlessTwice: true)
    try journal(
      "2", [(0, "ok", false), (1, "ok", false), (2, "ok", false), (3, "ok", false)],
      isHarmlessTwice: true)
    let harmless = try report()
    #expect((harmless.duplicates, harmless.maybeDuplicates) == (0, 0))
  }

  /// What two runs accepted is one thing only if both are harmless, and of one kind.
  @Test(arguments: [
    (true, "http://x/", nil as Int64?, true, "http://x/", nil as Int64?, 0),
    (true, "http://x/", nil, false, "http://x/", nil, 1),
    (false, "http://x/", nil, true, "http://x/", nil, 1),
    (false, "http://x/", nil, false, "http://x/", nil, 1),
    (true, "http://x/", nil, true, "http://y/", nil, 1),
    (true, "http://x/", 4, true, "http://x/", nil, 1),
    (true, "http://x/", 4, true, "http://x/", 4, 0),
  ])
  func `two acceptances are one in any order of the journals, or two`(
    _ isHarmless: Bool, _ url: String, _ slice: Int64?, _ isOtherHarmless: Bool,
    _ otherURL: String, _ otherSlice: Int64?, _ duplicates: Int
  ) throws {
    for (one, other) in [("1", "2"), ("2", "1")] {
      for (first, second) in [("ok", "ok"), ("ok", "unknown"), ("unknown", "ok")] {
        try journal(
          one, [(0, first, false)], isHarmlessTwice: isHarmless, url: url, sliceSize: slice)
        try journal(
          other, [(0, second, false)], isHarmlessTwice: isOtherHarmless, url: otherURL,
          sliceSize: otherSlice)
        let report = try report()
        let isBoth = first == second
        #expect(report.duplicates == (isBoth ? duplicates : 0), "\(one) \(first) \(second)")
        #expect(report.maybeDuplicates == (isBoth ? 0 : duplicates), "\(one) \(first) \(second)")
      }
    }
  }

  /// Its machine stopped, and took lines with it: nobody knows what it sent.
  @Test func `files that a lost journal may have had, too, are possible duplicates`() throws {
    try makeDirectory(place.local("others"))
    try journal("1", [(0, "ok", false)], isClosed: false)
    try journal("2", (1..<6).map { ($0, "ok", false) })
    // A run with that directory knows which journals are there, and marks what it sends.
    #expect(try report(boot: "c").maybeDuplicates == 0)
    try journal("3", (1..<6).map { ($0, "ok", false) }, in: "others")
    try place.write("journals/journal-2.jsonl", "")
    #expect(try report(in: ["journals", "others"], boot: "c").maybeDuplicates == 5)
    #expect(try report(in: ["others", "journals"], boot: "c").maybeDuplicates == 5)
    // Its machine goes on.
    #expect(try report(in: ["journals", "others"]).maybeDuplicates == 0)
  }

  /// Regression: the offset of one file and the outcome of another made a record.
  @Test func `lines that a damaged disk has joined say nothing`() throws {
    try journal("1", [(0, "failed", false), (1, "ok", false)])
    let path = "\(place.path)/journals/journal-1.jsonl"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    // A block of zeros, from the middle of one record to the middle of the next.
    let size = try #require(text.range(of: #""size":"#))
    let outcome = try #require(text.range(of: #""outcome":"ok""#))
    let hole = size.lowerBound..<outcome.lowerBound
    let zeros = String(repeating: "\0", count: text[hole].utf8.count)
    try place.write("journals/journal-1.jsonl", text.replacingCharacters(in: hole, with: zeros))
    let holed = try report()
    #expect(holed.damagedJournals == 1)
    // The line that says that the first one began is there.
    #expect(holed.states == [.unknown: 1])
    // A line feed between two lines.
    try place.write(
      "journals/journal-1.jsonl",
      text.replacingOccurrences(
        of: "}}\n{\"schema\":\"formstream.started", with: "}} {\"schema\":\"formstream.started"))
    #expect(try report().damagedJournals == 1)
  }

  @Test func `journals of other manifests, other files and torn lines are left out`() throws {
    try journal("1", [(0, "ok", false)], manifest: "00000000-0000-4000-8000-000000000000")
    try journal("2", [(1, "ok", false)], isClosed: false, torn: #"{"schema":"formstream.rec"#)
    try place.write("journals/other", "x\n")
    try place.write("journals/journal-3.jsonl", "no jour")
    try place.write("journals/journal-4.jsonl", "")
    let report = try report()
    #expect((report.journals, report.openJournals) == (1, 1))
    #expect(report.states == [.ok: 1])
    #expect(report.missing == 5)
  }

  @Test func `the rest can be sent again`() throws {
    try place.write("d", "new contents")
    try journal(
      "1", [(0, "ok", false), (1, nil, false), (2, "failed", false), (3, "source-changed", false)])
    var rest: [BatchFile] = []
    _ = try report { rest.append($0) }
    #expect(rest.map(\.manifestPath) == ["b", "c", "d", "e", "f"])
    #expect(rest.map(\.maybeDuplicate) == [true, false, false, false, false])
    #expect(rest.map(\.size) == [2, 3, 12, 5, 6])
    #expect(rest[2].modified != 5)
    #expect(rest[1].modified == 5)

    var encoder = ManifestEncoder(root: LocalPath(place.path))
    let again = try place.write("again", encoder.header + rest.flatMap { encoder.line(for: $0) })
    let reader = try ManifestReader(again)
    #expect(reader.id != id)
    #expect(try reader.next()?.maybeDuplicate == true)
    #expect(try reader.next()?.path == place.local("c"))
  }

  @Test func `the result is the same in pieces, in shards and in all`() throws {
    var random = SeededSequence(seed: 11)
    let outcomes: [String?] = ["ok", "ok", "failed", "retryable", "unknown", "source-changed", nil]
    for round in 0..<20 {
      for name in 0..<3 {
        try journal(
          "\(name)",
          (0..<Int(random.next() % 8)).map { _ in
            (Int(random.next() % 6), outcomes[Int(random.next() % 7)], random.next() % 5 == 0)
          }, isClosed: random.next() % 2 == 0, isHarmlessTwice: random.next() % 2 == 0)
      }
      let complete = try report()
      for window: Int64 in [1, 60, 100, 200] {
        let pieces = try report(window: window)
        #expect(pieces.states == complete.states, "round \(round)")
        #expect(
          (pieces.missing, pieces.duplicates, pieces.maybeDuplicates, pieces.bytes)
            == (complete.missing, complete.duplicates, complete.maybeDuplicates, complete.bytes))
      }
      var (files, ok) = (0, 0)
      for number in 1...4 {
        let part = try report(shard: Shard(number, of: 4))
        files += part.files
        ok += part.states[.ok] ?? 0
      }
      #expect((files, ok) == (6, complete.states[.ok] ?? 0))
    }
  }

  @Test func `a directory or manifest that can't be read is an error`() throws {
    let missing = #expect(throws: BatchError.self) {
      try BatchReport(
        on: [manifest], in: [place.local("nothing")], begin: { _ in }, rest: { _ in })
    }
    #expect(missing?.code == .journalUnreadable)
    let none = #expect(throws: BatchError.self) {
      try BatchReport(on: [place.local("nothing")], in: [], begin: { _ in }, rest: { _ in })
    }
    #expect(none?.code == .manifestUnreadable)
  }
}
