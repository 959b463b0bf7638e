import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Testing

@testable import FormStreamBatch

/// Which manifests and journals of earlier runs belong together.
@Suite struct EarlierManifestTests {
  private let place: TemporaryDirectory
  private var directory: LocalPath { LocalPath(place.path) }

  init() throws {
    place = try TemporaryDirectory(inMemory: true)
  }

  private static func id(_ number: Int) -> String { "11111111-1111-4111-8111-11111111111\(number)" }

  /// Writes the manifest of a round, which names these runs.
  @discardableResult
  private func manifest(_ number: Int, as name: String, naming runs: [String] = [], parent: String? = nil) throws -> LocalPath {
    let encoder = ManifestEncoder(
      root: nil, id: Self.id(number), hasOneRoot: true, round: Round(number: number), parent: parent,
      isFailedList: parent != nil, journals: runs)
    return try place.write(name, encoder.header)
  }

  private func journal(of number: Int, run: String, parent: String? = nil) throws {
    let head = JournalHead(
      manifest: Self.id(number), shard: nil, url: "http://h/", boot: "b", parent: parent, begun: 5, run: run)
    try place.write("journal-\(run).jsonl", head.json.line())
  }

  /// Two runs at the same time: one lists the journals, the other one begins a round whose manifest names its journal.
  @Test func `a run that has begun after the journals were listed is not missed`() throws {
    try manifest(1, as: "manifest.jsonl")
    try journal(of: 1, run: "first")
    let listed = try JournalSet(in: [directory])
    try journal(of: 1, run: "later")
    try manifest(2, as: "manifest-2.jsonl", naming: ["first", "later"])
    let earlier = try EarlierManifests(of: listed)
    try earlier.checkJournals()
    try earlier.checkComplete()
    try FileManager.default.removeItem(atPath: place.path("journal-later.jsonl"))
    let error = #expect(throws: BatchError.self) { try earlier.checkJournals() }
    #expect(error?.code == .journalUnreadable)
  }

  /// A copy of a list of failed files, beside the journals.
  @Test func `a list counts under its own name, and if it was sent`() throws {
    try manifest(1, as: "manifest.jsonl")
    try journal(of: 1, run: "first")
    let name = "failed-\(Self.id(2)).jsonl"
    try manifest(2, as: name, parent: Self.id(1))
    func paths() throws -> [String] {
      try EarlierManifests(of: JournalSet(in: [directory])).paths.map { String(decoding: $0.name.bytes, as: UTF8.self) }
    }
    // Nobody has sent it.
    #expect(try paths() == ["manifest.jsonl"])
    try journal(of: 2, run: "second", parent: Self.id(1))
    #expect(try paths() == ["manifest.jsonl", name])
    // What somebody has called otherwise is no copy of ours.
    for other in ["failed-again.jsonl", "failed-\(Self.id(2)).json", "my-\(name)", "failed-\(Self.id(2))-old.jsonl"] {
      try FileManager.default.moveItem(atPath: place.path(name), toPath: place.path(other))
      #expect(try paths() == ["manifest.jsonl"], "\(other)")
      try FileManager.default.moveItem(atPath: place.path(other), toPath: place.path(name))
    }
  }

  /// A line of a manifest has a maximum length.
  @Test(.timeLimit(.minutes(5))) func `a manifest names ten thousand journals, and the next one names the others`() async throws
  {
    let server = try ScriptedServer { _ in .good() }
    try makeDirectory(place.local("in"))
    func night(_ number: Int) async throws -> [String] {
      try place.write("in/f\(number)", "\(number)")
      var batch = try Batch([.path(place.local("in"))], to: server.url)
      batch.journal = place.local("journal")
      try await batch.start().end()
      return try ManifestReader.header(of: place.local("journal/manifest\(number == 1 ? "" : "-\(number)").jsonl")).journals
    }
    #expect(try await night(1) == [])
    let id = try ManifestReader.header(of: place.local("journal/manifest.jsonl")).id
    let others = (1...10_010).map { "run-\($0)" }
    for run in others {
      let head = JournalHead(manifest: id, shard: nil, url: "\(server.url)/", boot: "b", begun: 5, run: run)
      try place.write("journal/journal-\(run).jsonl", head.json.line())
    }
    let (second, third) = (try await night(2), try await night(3))
    #expect(second.count == 10_000)
    // The first run and the second one have journals, too.
    #expect(third.count == 12)
    #expect(Set(second + third).isSuperset(of: others) && Set(second + third).count == 10_012)
  }
}
