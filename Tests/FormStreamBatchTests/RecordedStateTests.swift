import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Testing

@testable import FormStreamBatch

/// A state that sums up old rounds.
@Suite struct RecordedStateTests {
  private let place: TemporaryDirectory

  init() throws { place = try TemporaryDirectory(inMemory: true) }

  private func rounds(_ count: Int, seed: UInt64) throws -> MadeRounds {
    let made = try MadeRounds(seed: seed, in: place)
    for number in 0..<count {
      try made.add()
      if number % 4 == 2 { try made.settle() }
    }
    return made
  }

  /// The rounds and the report must not depend on a state, nor on the files that it sums up.
  @Test(arguments: 0..<16)
  func `a state changes nothing, and stands for the files that it sums up`(_ seed: UInt64) throws {
    let made = try rounds(9, seed: seed)
    let listing = made.listing()
    let expected = try MadeRounds.Answers(of: made, listing: listing)
    func check(_ at: String) throws {
      let answers = try MadeRounds.Answers(of: made, listing: listing)
      #expect(answers == expected, "\(at): \(answers.difference(from: expected))")
    }
    guard made.rounds > 4 else { return }
    #expect(try made.sumUp(keeping: made.rounds - 3, window: seed % 2 == 0 ? 300 : 1 << 28))
    #expect(try JournalSet(in: [made.directory]).state?.through == 3)
    try check("with a state")
    if seed % 3 != 0 { try made.removeSummedUp() }
    try check("without the files")
    #expect(try made.sumUp(keeping: 1))
    #expect(try JournalSet(in: [made.directory]).state?.through == made.rounds - 1)
    try check("with the second state")
    try made.removeSummedUp()
    try check("without the files of the second state")
  }

  /// More rounds must not see any difference either.
  @Test(arguments: 100..<106)
  func `rounds after a state go on as if all files were there`(_ seed: UInt64) throws {
    let made = try rounds(6, seed: seed)
    #expect(try made.sumUp(keeping: 1))
    for _ in 0..<2 { try made.add() }
    try made.settle()
    let listing = made.listing()
    let kept = try MadeRounds.Answers(of: made, listing: listing)
    try FileManager.default.removeItem(atPath: place.path("j/state.jsonl"))
    let expected = try MadeRounds.Answers(of: made, listing: listing)
    #expect(kept == expected, "\(kept.difference(from: expected))")
  }

  /// How a state, or what it sums up, is damaged, and why it can't be used then.
  static let damages: [(name: String, reason: String)] = [
    ("torn", "damaged"), ("flipped", "damaged"), ("empty", "damaged"), ("version", "another version"),
    ("grown", "is not as it was"), ("added", "was not there"),
  ]

  @Test(arguments: damages)
  func `a state that does not say all is not used, and is missed if the files are not there`(
    _ damage: (name: String, reason: String)
  ) throws {
    let made = try rounds(6, seed: 7)
    let expected = try MadeRounds.Answers(of: made)
    #expect(try made.sumUp(keeping: 2))
    let state = place.local("j/state.jsonl")
    let bytes = try [UInt8](Data(contentsOf: URL(filePath: place.path("j/state.jsonl"))))
    guard case .usable(let usable) = try RecordedState.find(in: made.directory) else {
      Issue.record("The state can't be used.")
      return
    }
    let covered = try #require(usable.manifests.all.first?.journals.first)
    let journal = place.local("j/\(covered.name.text)")
    switch damage.name {
    case "torn": try writeFile(state, bytes.dropLast())
    case "flipped":
      var flipped = bytes
      flipped[bytes.count / 2] ^= 1
      try writeFile(state, flipped)
    case "empty": try writeFile(state, [])
    case "version":
      try writeFile(state, Array(bytes.text.replacing("formstream.state/1", with: "formstream.state/9").utf8))
    case "grown":
      let old = try [UInt8](Data(contentsOf: URL(filePath: journal.description)))
      try writeFile(journal, old + Array("{\"schema\":\"formstream.closed/1\"}\n".utf8))
    default:
      let head = JournalHead(
        manifest: usable.manifests.all[0].id, shard: nil, url: "http://h/", boot: "b", run: "another")
      try place.write("j/journal-another.jsonl", head.json.line())
    }
    let set = try JournalSet(in: [made.directory])
    #expect(set.state == nil)
    #expect(set.unusableState?.contains(damage.reason) == true, "\(set.unusableState ?? "-")")
    let answers = try MadeRounds.Answers(of: made)
    // In these cases, something was added to what the files said.
    if !["grown", "added"].contains(damage.name) { #expect(answers == expected, "\(answers.difference(from: expected))") }
    for name in usable.manifests.files.keys where damage.name != "grown" || name != covered.name {
      try FileManager.default.removeItem(atPath: place.path("j/\(name.text)"))
    }
    let error = #expect(throws: BatchError.self) { try MadeRounds.Answers(of: made) }
    #expect(error?.code == .journalUnreadable)
    #expect(error?.description.contains(damage.reason) == true, "\(error?.description ?? "-")")
  }

  @Test func `a state that is lost after the files is missed`() throws {
    let made = try rounds(6, seed: 8)
    #expect(try made.sumUp(keeping: 2))
    try made.removeSummedUp()
    try FileManager.default.removeItem(atPath: place.path("j/state.jsonl"))
    let error = #expect(throws: BatchError.self) { try MadeRounds.Answers(of: made) }
    #expect(error?.code == .journalUnreadable)
    #expect(error?.description.contains("put this file back") == true, "\(error?.description ?? "-")")
  }

  @Test func `the rounds after those that are summed up are missed`() throws {
    let made = try rounds(6, seed: 8)
    #expect(try made.sumUp(keeping: 2))
    for path in try JournalReader.records(in: made.directory) where path.name != RecordedState.name {
      try FileManager.default.removeItem(atPath: path.description)
    }
    let error = #expect(throws: BatchError.self) { try MadeRounds.Answers(of: made) }
    #expect(error?.description.contains("The manifest of round \(made.rounds - 1) is not beside") == true)
  }

  @Test func `a copy of a journal that is summed up changes nothing`() throws {
    let made = try rounds(6, seed: 9)
    let expected = try MadeRounds.Answers(of: made)
    let first = try #require(try JournalReader.journals(in: made.directory).first)
    try FileManager.default.copyItem(atPath: first.description, toPath: place.path("j/journal-copy.jsonl"))
    #expect(try made.sumUp(keeping: 1))
    try made.removeSummedUp()
    if !FileManager.default.fileExists(atPath: place.path("j/journal-copy.jsonl")) {
      try FileManager.default.copyItem(atPath: first.description, toPath: place.path("j/journal-copy.jsonl"))
    }
    let answers = try MadeRounds.Answers(of: made)
    #expect(try JournalSet(in: [made.directory]).state != nil)
    #expect(answers == expected, "\(answers.difference(from: expected))")
  }

  @Test func `no round is summed up while one of its runs goes on`() throws {
    let made = try rounds(4, seed: 10)
    let header = try ManifestReader.header(of: place.local("j/manifest.jsonl"))
    let writer = try JournalWriter(
      in: DirectoryDescriptor(made.directory),
      JournalHead(manifest: header.id, shard: nil, url: "http://h/", boot: "b", run: "still-sent"))
    #expect(try !made.sumUp(keeping: 1))
    #expect(try JournalSet(in: [made.directory]).state == nil)
    try writer.close()
    #expect(try made.sumUp(keeping: 1))
  }

  @Test func `a list of an old round is refused if what came after it is summed up and not there`() throws {
    let made = try rounds(6, seed: 11)
    let first = try ManifestReader.header(of: place.local("j/manifest.jsonl"))
    let encoder = ManifestEncoder(root: "/r", hasOneRoot: true, round: first.round, parent: first.id, isFailedList: true)
    let list = try place.write("list", encoder.header)
    #expect(try made.sumUp(keeping: 2))
    let journals = try JournalSet(in: [made.directory])
    #expect(journals.state != nil)
    // As long as the files are there, the state is not used with the list.
    #expect(try EarlierManifests(of: journals, named: [list]).journals.state == nil)
    try made.removeSummedUp()
    let earlier = try EarlierManifests(of: JournalSet(in: [made.directory]), named: [list])
    let error = #expect(throws: BatchError.self) { try earlier.checkRounds() }
    #expect(error?.description.contains("is of a round that it sums up") == true, "\(error?.description ?? "-")")
  }
}
