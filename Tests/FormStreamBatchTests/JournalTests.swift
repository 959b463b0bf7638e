import Foundation
import FormStreamMultipart
import FormStreamPlatform
import FormStreamRecords
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

  private func writer(manifest: String = "m", boot: String = "b") throws -> JournalWriter {
    try JournalWriter(
      in: directory, JournalHead(manifest: manifest, shard: nil, url: "http://h/", boot: boot))
  }

  private func record(_ offset: Int64, _ state: BatchState, path: LocalPath = "a") -> [UInt8] {
    FileRecord(
      manifest: "m", index: 0, offset: offset, path: path, size: 1, modified: 0, type: nil,
      typeSource: nil, sha256: nil, url: "http://h/", status: nil, outcome: state.rawValue,
      attempts: 1, maybeDuplicate: false, bytesSent: 0, seconds: 0, response: nil, error: nil
    ).json.line()
  }

  private func index(boot: String = "b") throws -> JournalIndex {
    try JournalIndex(of: "m", in: LocalPath(place.path), boot: boot)
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
    #expect(index.journalCount == 1)
    #expect(index.urls == ["http://h/"])
    let standings = BatchState.allCases.indices.map { index.standing(of: Int64(100 * $0)) }
    #expect(standings == [.accepted, .unsent, .unsent, .doubtful, .unsent, .unsent])
    #expect(index.standing(of: 1000) == .doubtful)
    #expect(index.standing(of: 2000) == .unsent)
  }

  @Test func `what a journal without its last line doesn't prove accepted is doubtful`() throws {
    let journal = try writer()
    try journal.noteStarted(0)
    try journal.append(record(0, .ok))
    try journal.noteStarted(100)
    try journal.append(record(100, .failed))
    journal.abandon()
    let index = try index()
    #expect(index.standing(of: 0) == .accepted)
    #expect(index.standing(of: 100) == .doubtful)
    #expect(index.standing(of: 200) == .unsent)
  }

  /// The lines of the last second may be lost then.
  @Test func `if the system ended during a run, all that is not accepted is doubtful`() throws {
    let journal = try writer(boot: "before")
    try journal.append(record(0, .ok))
    journal.abandon()
    let index = try index(boot: "after")
    #expect(index.standing(of: 0) == .accepted)
    #expect(index.standing(of: 200) == .doubtful)
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
      #expect((index.standing(of: 0) == .accepted) == (cut >= ends[3]), "\(cut)")
      #expect((index.standing(of: 100) == .accepted) == (cut >= ends[5]), "\(cut)")
      if cut >= ends[2], cut < ends[3] { #expect(index.standing(of: 0) == .doubtful, "\(cut)") }
      if cut >= ends[4], cut < ends[5] { #expect(index.standing(of: 100) == .doubtful, "\(cut)") }
    }
  }

  @Test func `a path that looks like the keys of a record is not one`() throws {
    let journal = try writer()
    let path = LocalPath(#"","outcome":"ok","offset":7,"x":""#)
    try journal.append(record(100, .failed, path: path))
    try journal.close()
    let index = try index()
    #expect(index.standing(of: 100) == .unsent)
    #expect(index.standing(of: 7) == .unsent)
  }

  @Test func `damaged lines make all that is not accepted doubtful`() throws {
    let journal = try writer()
    try journal.append(record(0, .ok))
    try journal.append(Array("\0\0\0\n".utf8))
    try journal.close()
    let index = try index()
    #expect(index.standing(of: 0) == .accepted)
    #expect(index.standing(of: 100) == .doubtful)
  }

  @Test func `journals of other manifests and other files don't count`() throws {
    let journal = try writer(manifest: "other")
    try journal.append(record(0, .ok))
    try journal.close()
    try place.write("journal-notes.txt", "x")
    let index = try index()
    #expect(index.journalCount == 0)
    #expect(index.standing(of: 0) == .unsent)
  }

  @Test func `neighbours are told apart, however many there are`() {
    var index = JournalIndex()
    for file in 0..<200_000 where file % 3 == 0 { index.note(Int64(file * 50), .accepted) }
    for file in 0..<200_000 where file % 5 == 0 { index.note(Int64(file * 50), .doubtful) }
    var wrong = 0
    for file in 0..<200_000 {
      var expected = JournalIndex.Standing.unsent
      if file % 5 == 0 { expected = .doubtful }
      if file % 3 == 0 { expected = .accepted }
      if index.standing(of: Int64(file * 50)) != expected { wrong += 1 }
    }
    #expect(wrong == 0)
  }

  @Test func `only the owner can read a journal`() throws {
    try writer().close()
    let path = try #require(try JournalReader.journals(in: LocalPath(place.path)).first)
    let mode = try run(program: "/usr/bin/stat", ["-c", "%a", path.description])
    #expect(mode.output == "600\n")
  }

  @Test func `the name of an idempotency key has one UUID`() throws {
    // printf 'a' | sha256sum begins with ca978112ca1bbdcafac231b39a23dc4d.
    #expect(try UUIDText.named("a") == "ca978112-ca1b-8dca-bac2-31b39a23dc4d")
    #expect(UUIDText.random() != UUIDText.random())
  }
}
