import Foundation
import FormStreamMultipart
import FormStreamPlatform
import FormStreamJSON
import FormStreamTestSupport
import Testing

@testable import FormStreamBatch

/// What a journal says after a run that ended in any way.
@Suite struct JournalTests {
  private let place: TemporaryDirectory
  private let directory: DirectoryDescriptor

  init() throws {
    place = try TemporaryDirectory()
    directory = try DirectoryDescriptor(LocalPath(place.path))
  }

  private func writer(
    manifest: String = "m", boot: String = "b", isHarmlessTwice: Bool = false,
    sliceSize: Int64? = nil
  ) throws -> JournalWriter {
    try JournalWriter(
      in: directory,
      JournalHead(
        manifest: manifest, shard: nil, url: "http://h/", boot: boot,
        isHarmlessTwice: isHarmlessTwice, sliceSize: sliceSize))
  }

  private func result(
    _ offset: Int64, _ state: BatchState, path: LocalPath = "a", error: String? = nil
  ) -> FileResult {
    FileResult(
      file: BatchFile(path: path, size: 1, offset: offset), manifest: "m", type: nil, sha256: nil,
      url: "http://h/", status: nil, state: state, attempts: 1, maybeDuplicate: false,
      bytesSent: 0, duration: .zero, begun: 1, ended: 2, response: nil,
      error: error.map { FileFailure(code: $0, message: "It failed.") })
  }

  private func record(
    _ offset: Int64, _ state: BatchState, path: LocalPath = "a", error: String? = nil
  ) -> [UInt8] { result(offset, state, path: path, error: error).record.line() }

  private func index(boot: String = "b", sliceSize: Int64? = nil) throws -> JournalIndex {
    try JournalIndex(
      of: ManifestExtent(id: "m", records: nil), in: journals(), boot: boot,
      sliceSize: sliceSize)
  }

  private func journals() throws -> JournalSet {
    try JournalSet(in: [LocalPath(place.path)])
  }

  @Test func `files of a closed journal are accepted, unsent or doubtful as their records say`()
    throws
  {
    let journal = try writer()
    for (place, state) in BatchState.allCases.enumerated() {
      let offset = Int64(100 * place)
      try journal.noteStarted(offset)
      try journal.append(record(offset, state))
    }
    try journal.noteStarted(1000)
    try journal.close()
    let index = try index(boot: "another")
    #expect(try journals().heads(ofManifest: "m").map(\.url) == ["http://h/"])
    let standings = BatchState.allCases.indices.map { index.status(of: Int64(100 * $0)) }
    #expect(standings == [.accepted, .unsent, .unsent, .doubtful, .unsent, .unsent])
    #expect(index.status(of: 1000) == .doubtful)
    #expect(index.status(of: 2000) == .unsent)
  }

  /// Adds the closed journal of a run that sent slices of 10 bytes, of which 20 bytes were accepted. Its first line is lost.
  private func addJournalWithoutHead(_ lines: [[UInt8]]) throws {
    let lost = "x\n"
    let bytes = Array(lost.utf8) + lines.flatMap { $0 } + JournalMark.closed(isComplete: false).line()
    try place.write("journal-all-11111111-1111-4111-8111-111111111111.jsonl", bytes)
  }

  /// Regression: an older journal was believed, so bytes that the server has were sent again as the next slice.
  @Test(arguments: [true, false])
  func `slices of a journal without its first line are not continued by an older journal`(isMismatch: Bool) throws {
    let older = try writer(sliceSize: 10)
    try older.note(AcceptedSlices(bytes: 10, changed: 1), of: 0)
    try older.append(record(0, .retryable))
    try older.close()
    let file = BatchFile(path: "a", size: 30, offset: 0)
    #expect(try index(sliceSize: 10).progress(of: file)?.next(of: 10, in: 30, changed: 1)?.index == 1)
    let slices = JournalMark.accepted(0, AcceptedSlices(bytes: 20, changed: 1)).line()
    let last = isMismatch ? record(0, .failed, error: "digest-mismatch") : record(0, .retryable)
    try addJournalWithoutHead(isMismatch ? [last] : [slices, last])
    let index = try index(sliceSize: 10)
    #expect(index.progress(of: file) == SliceProgress(size: 10, accepted: AcceptedSlices(bytes: 10, changed: 1)).unusable)
    #expect(index.status(of: 0) == .doubtful)
  }

  /// Regression: such a run began when its last line was written, so it came after runs that may have been later.
  @Test func `a run without its first line may have begun at any time`() throws {
    try addJournalWithoutHead([record(0, .ok)])
    #expect(try journals().period(ofManifest: "m").first == .min)
    #expect(try journals().heads(ofManifest: "m").map(\.url) == ["http://h/"])
  }

  /// A server that fails may have stored the file before. The file may be sent again all the same.
  @Test func `a file that may be stored is doubtful, whatever its record says`() throws {
    let journal = try writer(isHarmlessTwice: true)
    for offset: Int64 in [0, 100] {
      try journal.noteStarted(offset)
      var result = result(offset, .retryable)
      result.isStoredPerhaps = offset == 0
      try journal.append([result])
    }
    try journal.close()
    let index = try index()
    #expect(index.status(of: 0) == .repeatable && index.status(of: 100) == .unsent)
  }

  @Test func `what a journal without its last line doesn't prove accepted is doubtful`() throws {
    let journal = try writer()
    try journal.noteStarted(0)
    try journal.append(record(0, .ok))
    try journal.noteStarted(100)
    try journal.append(record(100, .failed))
    journal.abandon()
    let index = try index()
    #expect(index.status(of: 0) == .accepted)
    #expect(index.status(of: 100) == .doubtful)
    #expect(index.status(of: 200) == .unsent)
  }

  /// The lines of the last second may be lost then.
  @Test func `if the system ended during a run, all that is not accepted is doubtful`() throws {
    let journal = try writer(boot: "before")
    try journal.append(record(0, .ok))
    journal.abandon()
    let index = try index(boot: "after")
    #expect(index.status(of: 0) == .accepted)
    #expect(index.status(of: 200) == .doubtful)
  }

  /// Another run may send without keys, or with keys of slices: only what each run does by itself is known.
  @Test(
    arguments: [
      (false, nil, nil, JournalIndex.FileStatus.doubtful), (true, nil, nil, .repeatable),
      (true, 4, 4, .repeatable), (true, 4, 8, .doubtful), (true, nil, 4, .doubtful),
      (true, 4, nil, .doubtful), (false, 4, 4, .doubtful),
    ] as [(Bool, Int64?, Int64?, JournalIndex.FileStatus)])
  func `a request is repeatable only if it had the key that it would have now`(
    _ isHarmless: Bool, _ earlierSize: Int64?, _ size: Int64?, _ expected: JournalIndex.FileStatus
  ) throws {
    let journal = try writer(boot: "before", isHarmlessTwice: isHarmless, sliceSize: earlierSize)
    try journal.noteStarted(0)
    try journal.noteStarted(100)
    try journal.append(record(100, .failed))
    try journal.noteStarted(200)
    try journal.append(record(200, .unknown))
    try journal.append(record(300, .ok))
    journal.abandon()
    let index = try index(sliceSize: size)
    for offset in [0, 100, 200, 400] as [Int64] {
      #expect(index.status(of: offset) == expected, "\(offset)")
    }
    #expect(index.status(of: 300) == .accepted)
  }

  // MARK: Slices

  /// The journals are read in the order of their names, which is random.
  @Test func `the slices of all journals that can be continued count`() throws {
    for (size, changed, bytes) in [(4, 1, 8), (4, 1, 12), (4, 1, 4), (8, 2, 16), (8, 1, 8)]
      as [(Int64, Int64, Int64)]
    {
      let journal = try writer(sliceSize: size)
      try journal.noteStarted(0)
      try journal.note(AcceptedSlices(bytes: bytes, changed: changed), of: 0)
      try journal.append(record(0, .retryable))
      try journal.close()
    }
    let four = try #require(try index(sliceSize: 4).progress(of: BatchFile(path: "a", offset: 0)))
    #expect(four.next(of: 4, in: 100, changed: 1)?.offset == 12)
    #expect(four.next(of: 4, in: 100, changed: 2) == nil)
    #expect(four.hasOthers)
    let eight = try #require(try index(sliceSize: 8).progress(of: BatchFile(path: "a", offset: 0)))
    #expect(eight.next(of: 8, in: 100, changed: 2)?.offset == 16)
    #expect(eight.next(of: 8, in: 100, changed: 1) == nil)
    #expect(try index(sliceSize: 4).progress(of: BatchFile(path: "a", offset: 100)) == nil)
    #expect(try index(sliceSize: 4).status(of: 0) == .unsent)
  }

  @Test func `slices of a file that was accepted don't count`() throws {
    for isFirst in [true, false] {
      let journal = try writer(sliceSize: 4)
      if isFirst { try journal.append(record(0, .ok)) }
      try journal.note(AcceptedSlices(bytes: 4, changed: 1), of: 0)
      if !isFirst { try journal.append(record(0, .ok)) }
      try journal.close()
      #expect(try index(sliceSize: 4).progress(of: BatchFile(path: "a", offset: 0)) == nil)
    }
  }

  @Test(arguments: [
    #""offset":-1,"accepted":4,"ctime_ns":1"#, #""offset":0,"accepted":-4,"ctime_ns":1"#,
    #""offset":0,"accepted":4"#, #""offset":0,"ctime_ns":1"#,
    #""offset":0,"accepted":4.5,"ctime_ns":1"#,
  ])
  func `a line about slices that is not valid is damage`(_ keys: String) throws {
    let journal = try writer(sliceSize: 4)
    try journal.append(Array("{\"schema\":\"formstream.slices/1\",\(keys)}\n".utf8))
    try journal.close()
    #expect(try index(sliceSize: 4).progress(of: BatchFile(path: "a", offset: 0)) == nil)
    #expect(try index(sliceSize: 4).status(of: 500) == .doubtful)
  }

  @Test(arguments: [0, 3, 100, 104, .max] as [Int64])
  func `a number of bytes after which no slice begins is not continued`(_ bytes: Int64) {
    let progress = SliceProgress(size: 4, accepted: AcceptedSlices(bytes: bytes, changed: 1))
    #expect(progress.next(of: 4, in: 100, changed: 1)?.offset == (bytes == 0 ? 0 : nil))
  }

  @Test func `if the start of the system has no name, it may have been another`() throws {
    let journal = try writer(boot: "")
    try journal.append(record(0, .ok))
    journal.abandon()
    #expect(try index(boot: "").status(of: 200) == .doubtful)
  }

  @Test func `what is refused before any record is not a journal that lost its head`() throws {
    try place.write("journal-1.jsonl", "")
    try place.write("journal-2.jsonl", "{\"schema\":\"formstream.jour")
    try makeFIFO(place.local("journal-3.jsonl"))
    #expect(try journals().manifests.isEmpty)
    try place.write("journal-4.jsonl", "{\"schema\":\"formstream.started/1\",\"offset\":5}\n")
    let error = #expect(throws: BatchError.self) { try index() }
    #expect(error?.code == .journalMalformed)
  }

  @Test func `what a harmless run may have sent is repeatable`() throws {
    var head = JournalHead(manifest: "m", shard: nil, url: "http://h/", boot: "b")
    for (offset, isHarmless) in [(0, true), (100, false), (200, true), (200, false)] {
      head.isHarmlessTwice = isHarmless
      let journal = try JournalWriter(in: directory, head)
      try journal.noteStarted(Int64(offset))
      try journal.close()
    }
    #expect([0, 100, 200].map(try index().status) == [.repeatable, .doubtful, .doubtful])
  }

  @Test func `journals of other shards say nothing of the files of this one`() throws {
    let extent = ManifestExtent(id: "m", records: 100..<1100)
    var head = JournalHead(manifest: "m", shard: "1/2", url: "http://h/", boot: "before")
    try JournalWriter(in: directory, head).abandon()
    (head.shard, head.url) = ("2/4", "http://i/")
    let journal = try JournalWriter(in: directory, head)
    try journal.append(record(400, .ok))
    journal.abandon()
    for (shard, expected): (Shard?, [JournalIndex.FileStatus]) in [
      (Shard(1, of: 2), [.doubtful, .accepted, .unsent]),
      (Shard(2, of: 2), [.unsent, .unsent, .unsent]),
      (nil, [.doubtful, .accepted, .unsent]),
    ] {
      let index = try JournalIndex(
        of: extent, shard: shard, in: journals(), boot: "after")
      #expect([100, 400, 900].map(index.status) == expected)
    }
    // All runs of a manifest send to one URL.
    #expect(Set(try journals().heads(ofManifest: "m").map(\.url)) == ["http://h/", "http://i/"])
  }

  @Test func `a record may be as long as what a manifest says of a file`() throws {
    let path = LocalPath(bytes: [UInt8](repeating: 1, count: ManifestRecord.maximumPath))
    let journal = try writer()
    var line = record(0, .ok, path: path)
    line.insert(contentsOf: [UInt8](repeating: 0x61, count: 2 << 20), at: line.count - 2)
    try journal.append(line)
    try journal.close()
    #expect(try index().status(of: 0) == .accepted)
  }

  @Test func `a journal that is cut at any byte proves nothing that it doesn't hold`() throws {
    let journal = try writer()
    try journal.noteStarted(0)
    try journal.append(record(0, .ok))
    try journal.noteStarted(100)
    try journal.append(record(100, .ok))
    try journal.close()
    let path = try #require(try JournalReader.journals(in: LocalPath(place.path)).first)
    let bytes = Array(try Data(contentsOf: URL(filePath: path.description)))
    let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map(\.count)
    let ends = lines.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1 + 1) }
    for cut in 0...bytes.count {
      try writeFile(path, bytes[..<cut])
      let index = try index()
      // The lines: head, started 0, record 0, started 100, record 100, closed.
      #expect((index.status(of: 0) == .accepted) == (cut >= ends[3]), "\(cut)")
      #expect((index.status(of: 100) == .accepted) == (cut >= ends[5]), "\(cut)")
      if cut >= ends[2], cut < ends[3] { #expect(index.status(of: 0) == .doubtful, "\(cut)") }
      if cut >= ends[4], cut < ends[5] { #expect(index.status(of: 100) == .doubtful, "\(cut)") }
    }
  }

  @Test func `a path that looks like the keys of a record is not one`() throws {
    let journal = try writer()
    let path = LocalPath(#"","outcome":"ok","offset":7,"x":""#)
    try journal.append(record(100, .failed, path: path))
    try journal.close()
    let index = try index()
    #expect(index.status(of: 100) == .unsent)
    #expect(index.status(of: 7) == .unsent)
  }

  @Test func `damaged lines make all that is not accepted doubtful`() throws {
    let journal = try writer()
    try journal.append(record(0, .ok))
    try journal.append(Array("\0\0\0\n".utf8))
    try journal.close()
    let index = try index()
    #expect(index.status(of: 0) == .accepted)
    #expect(index.status(of: 100) == .doubtful)
  }

  /// A disk that loses bytes joins the beginning of one record to another record.
  @Test func `a joined record says nothing of either file`() throws {
    let (one, other) = (record(100, .failed), record(200, .ok))
    let journal = try writer()
    // All of the first record but its line feed. `JSONMembersTests` has all other places.
    try journal.append(one.dropLast() + other)
    try journal.close()
    let index = try index()
    for offset in [Int64(100), 200] { #expect(index.status(of: offset) == .doubtful) }
  }

  @Test func `journals of other manifests and other files don't count`() throws {
    let journal = try writer(manifest: "other")
    try journal.append(record(0, .ok))
    try journal.close()
    try place.write("journal-notes.txt", "x")
    let index = try index()
    #expect(try journals().heads(ofManifest: "m").isEmpty)
    #expect(index.status(of: 0) == .unsent)
  }

  @Test func `neighbors are told apart, however many there are`() {
    var index = JournalIndex()
    for file in 0..<200_000 where file % 3 == 0 { index.note(Int64(file * 50), .accepted) }
    for file in 0..<200_000 where file % 5 == 0 { index.note(Int64(file * 50), .doubtful) }
    var wrong = 0
    for file in 0..<200_000 {
      var expected = JournalIndex.FileStatus.unsent
      if file % 5 == 0 { expected = .doubtful }
      if file % 3 == 0 { expected = .accepted }
      if index.status(of: Int64(file * 50)) != expected { wrong += 1 }
    }
    #expect(wrong == 0)
  }

  @Test func `only the owner can read a journal`() throws {
    try writer().close()
    let path = try #require(try JournalReader.journals(in: LocalPath(place.path)).first)
    let mode = try run(program: "/usr/bin/stat", ["-c", "%a", path.description])
    #expect(mode.output == "600\n")
  }

  /// Regression: the page left out a key.
  @Test func `the page of the records has all keys of a journal's first line`() throws {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    let page = try run(
      program: "/bin/cat", [(root + ["docs", "records.md"]).joined(separator: "/")]
    ).output
    let row = try #require(
      page.split(separator: "\n").first { $0.contains("`formstream.journal/1`") })
    let head = JournalHead(manifest: "m", shard: nil, url: "http://h/", boot: "b").json
    guard case .object(let members) = head else { throw BatchError(.journalMalformed, on: "", "") }
    for member in members where member.key != "schema" {
      #expect(row.contains("`\(member.key)`"))
    }
  }
}
