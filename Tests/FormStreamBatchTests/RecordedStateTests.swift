import FormStreamHTTP
import FormStreamJSON
import FormStreamMediaTypes
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

  private func rounds(_ count: Int, seed: UInt64, areDoubtful: Bool = false) throws -> MadeRounds {
    let made = try MadeRounds(seed: seed, areDoubtful: areDoubtful, in: place)
    for number in 0..<count {
      try made.add()
      if number % 4 == 2 { try made.settle() }
    }
    return made
  }

  /// The rounds and the report must not depend on a state, nor on the files that it sums up.
  @Test(arguments: 0..<20)
  func `a state changes nothing, and stands for the files that it sums up`(_ seed: UInt64) throws {
    let made = try rounds(9, seed: seed, areDoubtful: seed % 4 == 3)
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

  /// Regression: a list whose round was summed up was not seen, so the next round sent its files again, unmarked.
  @Test(arguments: [12, 13, 14])
  func `a list of failed files of a round that is summed up is seen`(_ seed: UInt64) throws {
    let made = try rounds(6, seed: seed)
    #expect(try made.sumUp(keeping: 2))
    try made.addFailedList(ofRound: 1)
    let earlier = try EarlierManifests(of: JournalSet(in: [made.directory]), taking: .rounds(in: made.directory))
    #expect(earlier.journals.state == nil)
    let listing = made.listing()
    let found = try MadeRounds.Answers(of: made, listing: listing)
    try FileManager.default.removeItem(atPath: place.path("j/state.jsonl"))
    let expected = try MadeRounds.Answers(of: made, listing: listing)
    #expect(found == expected, "\(found.difference(from: expected))")
  }

  /// Regression: all pairs of versions were compared for each entry, so a file that failed in 300 rounds stopped the run.
  @Test func `a file with many doubtful versions has one line`() throws {
    let made = try rounds(16, seed: 15, areDoubtful: true)
    #expect(try made.sumUp(keeping: 1))
    let lines = try lines(of: place.path("j/state.jsonl")).filter { $0.contains(#""path":"a""#) }
    #expect(lines.count == 1)
    #expect(lines.allSatisfy { $0.count(where: { $0 == "{" }) > 8 })
  }

  @Test func `if there are too many doubtful versions, any version is in doubt`() throws {
    func known(_ number: Int) -> KnownFile {
      let file = BatchFile.made("a", size: Int64(number), modified: 1)
      return KnownFile(file, nil, .doubtful, nil, of: "m", SendingPeriod(first: Int64(number), last: Int64(number)))
    }
    var history = FileHistory()
    for number in 1...1000 { history.add(known(number)) }
    #expect(history.doubts.count <= FileHistory.maximumDoubts)
    for size in [1, 500, 1000, 2000] as [Int64] {
      var contents = ListedContents(.made("a", size: size, modified: 1), isCompared: false)
      #expect(history.status(of: &contents) == .doubtful)
    }
    #expect(FileHistory(history.bytes) == history)
  }

  private func lines(of path: String) throws -> [String] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
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
      try place.write("j/journal-another.jsonl", head.json.line() + JournalMark.started(1).line())
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

  /// Regression: the state knew journals by their names, so it missed a copy that was removed, although the journal was there.
  @Test func `a copy of a journal that is removed again is not missed`() throws {
    let made = try rounds(6, seed: 11)
    let first = try ManifestReader.header(of: place.local("j/manifest.jsonl"))
    let encoder = ManifestEncoder(root: "/r", hasOneRoot: true, round: first.round, parent: first.id, isFailedList: true)
    let list = try place.write("list", encoder.header)
    let journal = try #require(try JournalSet(in: [made.directory]).places(ofManifest: first.id).first?.path)
    let copy = place.path("j/journal-copy.jsonl")
    try FileManager.default.copyItem(atPath: journal.description, toPath: copy)
    // The state names the older one of the two.
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: copy)
    #expect(try made.sumUp(keeping: 2))
    let state = try #require(try JournalSet(in: [made.directory]).state)
    #expect(state.manifests.files[Array("journal-copy.jsonl".utf8)] != nil)
    try FileManager.default.removeItem(atPath: copy)
    try EarlierManifests(of: JournalSet(in: [made.directory]), named: [list]).checkRounds()
    // A part of the journal does not stand for it.
    try writeFile(journal, [UInt8](Data(contentsOf: URL(filePath: journal.description))).dropLast())
    #expect(throws: BatchError.self) {
      try EarlierManifests(of: JournalSet(in: [made.directory]), named: [list]).checkRounds()
    }
  }

  /// Regression: a list of failed files was sent with the journal of its round even if it was sent to another URL.
  @Test(arguments: [("http://h/", true), ("http://other/", false)])
  func `a list of a round that is summed up belongs to the journals only if it is sent to their URL`(
    _ url: String, _ belongs: Bool
  ) throws {
    let made = try rounds(6, seed: 16)
    let first = try ManifestReader.header(of: place.local("j/manifest.jsonl"))
    let encoder = ManifestEncoder(root: "/r", hasOneRoot: true, round: first.round, parent: first.id, isFailedList: true)
    let list = try ManifestReader(place.write("list", encoder.header))
    #expect(try made.sumUp(keeping: 2))
    try made.removeSummedUp()
    let batch = Batch(request: try TransferRequest(.post, url), sniffer: MediaTypeSniffer(policy: .extension))
    #expect(list.belongs(to: try JournalSet(in: [made.directory]), as: batch) == belongs)
  }

  /// Regression: what was settled after a state had been written was forgotten if the clock had gone back meanwhile.
  @Test func `what is settled after a state is settled whatever the clock says`() throws {
    let made = try rounds(6, seed: 17)
    #expect(try made.sumUp(keeping: 1))
    let state = try #require(try JournalSet(in: [made.directory]).state)
    let doubts = try MadeRounds.Answers(of: made).report.doubts.filter { state.sumsUp(manifest: $0.manifest) }
    try #require(!doubts.isEmpty)
    let known = Set(try JournalReader.records(in: made.directory))
    try made.settle()
    let written = try #require(try JournalReader.records(in: made.directory).first { !known.contains($0) })
    let text = try String(contentsOfFile: written.description, encoding: .utf8)
    try writeFile(written, Array(text.replacing(#/"time_ns":\d/#) { _ in #""time_ns":"# }.utf8))
    #expect(try Set(MadeRounds.Answers(of: made).report.doubts).isDisjoint(with: doubts))
    // The next state knows it as well.
    #expect(try made.sumUp(keeping: 0))
    let journals = try JournalSet(in: [made.directory])
    var settled = try SettledDoubts(in: [made.directory], journals)
    try journals.state?.forEach { $0.noteSettled(in: &settled) }
    #expect(doubts.allSatisfy(settled.settles))
  }

  /// Regression: a directory that was named twice had two states, so none was used.
  @Test func `a directory that is named twice counts once`() throws {
    let made = try rounds(6, seed: 18)
    #expect(try made.sumUp(keeping: 2))
    try made.removeSummedUp()
    let journals = try JournalSet(in: [made.directory, place.local("j/../j")])
    #expect(journals.state != nil, "\(journals.unusableState ?? "-")")
  }

  /// Regression: the run that was later replaced what the other had written.
  @Test func `a run does not replace a state that another has written meanwhile`() throws {
    let made = try rounds(6, seed: 19)
    let earlier = try EarlierManifests(of: JournalSet(in: [made.directory]), taking: .rounds(in: made.directory))
    var late = try StateWriter(earlier, in: made.directory, sliceSize: nil, temporaryDirectory: LocalPath(place.path))
    #expect(try made.sumUp(keeping: 1))
    #expect(try !late.sumUp(through: 2, boot: "b"))
    #expect(try JournalSet(in: [made.directory]).state?.through == made.rounds - 1)
  }

  @Test func `rounds before one to which a run still adds something are summed up`() throws {
    let made = try rounds(6, seed: 20)
    let header = try ManifestReader.header(of: place.local("j/manifest-3.jsonl"))
    let writer = try JournalWriter(
      in: DirectoryDescriptor(made.directory),
      JournalHead(manifest: header.id, shard: nil, url: "http://h/", boot: "b", run: "still-sent"))
    #expect(try made.sumUp(keeping: 1))
    #expect(try JournalSet(in: [made.directory]).state?.through == 2)
    #expect(try !made.sumUp(keeping: 1))
    try writer.close()
    #expect(try made.sumUp(keeping: 1))
    #expect(try JournalSet(in: [made.directory]).state?.through == made.rounds - 1)
  }

  /// Regression: such a journal was taken for something that the state doesn't know, and its files may have been deleted.
  @Test func `a journal that mentions no files is no conflict`() throws {
    let made = try rounds(6, seed: 21)
    let expected = try MadeRounds.Answers(of: made)
    let header = try ManifestReader.header(of: place.local("j/manifest.jsonl"))
    #expect(try made.sumUp(keeping: 1))
    try made.removeSummedUp()
    let writer = try JournalWriter(
      in: DirectoryDescriptor(made.directory),
      JournalHead(manifest: header.id, shard: nil, url: "http://h/", boot: "b", run: "refused"))
    try writer.close()
    let answers = try MadeRounds.Answers(of: made)
    #expect(answers == expected, "\(answers.difference(from: expected))")
  }

  /// The results of such a manifest don't count for the rounds, but they do for `plan --against`, which must know their order.
  @Test func `no round is summed up if the directory has journals of another manifest`() throws {
    let made = try rounds(6, seed: 22)
    let encoder = ManifestEncoder(root: "/r", hasOneRoot: true)
    let other = try place.write("other", encoder.header)
    var lines = JournalHead(
      manifest: encoder.id, shard: nil, url: "http://h/", boot: "b", manifestPath: other, run: "another"
    ).json.line()
    try place.write("j/journal-another.jsonl", lines + JournalMark.closed(isComplete: true).line())
    #expect(try made.sumUp(keeping: 3))
    lines += JournalMark.started(Int64(encoder.header.count)).line()
    try place.write("j/journal-another.jsonl", lines)
    #expect(try !made.sumUp(keeping: 1))
    #expect(try JournalSet(in: [made.directory]).state?.through == made.rounds - 3)
  }

  /// Regression: the error was dropped, so a cancelled batch listed and compared its files to the end.
  @Test func `a batch can be cancelled while it sums up rounds`() throws {
    let made = try rounds(6, seed: 23)
    try makeDirectory(place.local("in"))
    let cancellation = BatchCancellation()
    var summedUp = 0
    let comparison = RecordedListing.Comparison(
      rounds: try RecordedRounds(in: made.directory),
      manifests: try EarlierManifests(of: JournalSet(in: [made.directory]), taking: .rounds(in: made.directory)),
      rules: RoundRules(), sliceSize: nil, keepsAccepted: false, temporaryDirectory: LocalPath(place.path),
      cancellation: cancellation, maximumRounds: 3, keptRounds: 2)
    let error = #expect(throws: BatchError.self) {
      try RecordedListing.newRound(
        in: DirectoryDescriptor(made.directory), at: made.directory, named: "l", followsLinks: false, after: comparison,
        { step in
          guard step == .summingUp else { return }
          summedUp += 1
          if summedUp == 3 { cancellation.cancel() }
        }, makeCheck: { _ in nil }, { () throws(BatchError) in try FileListing([.path(place.local("in"))], ListingOptions()) })
    }
    #expect(error?.code == .cancelled)
    #expect(summedUp == 3)
    #expect(try JournalSet(in: [made.directory]).state == nil)
  }

  /// What no file and no entry needs is left out, so the state does not grow with the number of rounds.
  @Test func `a state has no lines about manifests that nothing leads to`() throws {
    let made = try MadeRounds(seed: 24, areDoubtful: true, in: place)
    for number in 1...16 {
      try made.add()
      guard number % 4 == 0 else { continue }
      #expect(try made.sumUp(keeping: 3))
      try made.removeSummedUp()
    }
    let state = try #require(try JournalSet(in: [made.directory]).state)
    #expect(state.manifests.all.count < state.counts.manifests)
    #expect(state.through == made.rounds - 3)
    let report = try MadeRounds.Answers(of: made).report
    #expect(report.rounds >= made.rounds)
  }
}
