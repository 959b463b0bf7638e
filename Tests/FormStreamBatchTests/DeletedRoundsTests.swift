import FormStreamHTTP
import FormStreamJSON
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Testing

@testable import FormStreamBatch

/// Files that a state sums up, and that are deleted, or can't be yet.
@Suite struct DeletedRoundsTests {
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

  private func batch(_ url: String = "http://h/") throws -> Batch {
    Batch(request: try TransferRequest(.post, url), sniffer: MediaTypeSniffer(policy: .extension))
  }

  /// The first line of a list of failed files of a manifest.
  private func failedList(of header: ManifestHeader) throws -> LocalPath {
    let encoder = ManifestEncoder(root: "/r", hasOneRoot: true, round: header.round, parent: header.id, isFailedList: true)
    return try place.write("list", encoder.header)
  }

  /// Regression: such a list was sent outside the directory, and the next round sent its files again, unmarked.
  @Test(arguments: [("http://h/", true), ("http://other/", false)])
  func `a list of a round that the state has no line about belongs to the journals`(_ url: String, _ belongs: Bool) throws {
    let made = try MadeRounds(seed: 24, areDoubtful: true, in: place)
    var headers: [ManifestHeader] = []
    for number in 1...16 {
      try made.add()
      guard number % 4 == 0 else { continue }
      for path in try RecordedRounds(in: made.directory).manifests { headers.append(try ManifestReader.header(of: path)) }
      #expect(try made.sumUp(keeping: 3))
      try made.removeSummedUp()
    }
    let state = try #require(try JournalSet(in: [made.directory]).state)
    let dropped = try #require(headers.first { !state.sumsUp(manifest: $0.id) && ($0.round?.number ?? 1) <= state.through })
    let path = try failedList(of: dropped)
    let list = try ManifestReader(path)
    var batch = try batch(url)
    #expect(list.belongs(to: try JournalSet(in: [made.directory]), as: batch) == belongs)
    (batch.manifest, batch.journal) = (path, made.directory)
    #expect(throws: BatchError.self) { try PreparedBatch(batch) }
    // Without the state, nobody knows where the round was sent.
    let bytes = try [UInt8](Data(contentsOf: URL(filePath: place.path("j/state.jsonl"))))
    try writeFile(place.local("j/state.jsonl"), bytes.dropLast())
    #expect(list.belongs(to: try JournalSet(in: [made.directory]), as: batch))
    try FileManager.default.removeItem(atPath: place.path("j/state.jsonl"))
    #expect(list.belongs(to: try JournalSet(in: [made.directory]), as: batch))
  }

  /// Regression: the error said only that the others must be put back.
  @Test(arguments: [true, false])
  func `what was put back after the state has no line about it must be deleted again`(_ isManifest: Bool) throws {
    let made = try MadeRounds(seed: 24, areDoubtful: true, in: place)
    var (name, first): (String, [UInt8]) = ("manifest.jsonl", [])
    for number in 1...16 {
      try made.add()
      guard number % 4 == 0 else { continue }
      if number == 4 {
        let id = try ManifestReader.header(of: place.local("j/manifest.jsonl")).id
        let journal = try #require(try JournalSet(in: [made.directory]).places(ofManifest: id).first?.path)
        if !isManifest { name = journal.lastComponent }
        first = try [UInt8](Data(contentsOf: URL(filePath: place.path("j/\(name)"))))
      }
      #expect(try made.sumUp(keeping: 3))
      try made.removeSummedUp()
    }
    try writeFile(place.local("j/\(name)"), first)
    let state = try #require(try JournalSet(in: [made.directory]).state)
    try #require(!state.sumsUp(place.local("j/\(name)")))
    let earlier = try EarlierManifests(of: JournalSet(in: [made.directory]), taking: .rounds(in: made.directory))
    let error = #expect(throws: BatchError.self) { try earlier.checkRounds() }
    #expect(error?.description.contains("again") == true, "\(error?.description ?? "-")")
  }

  /// Regression: what was deleted was looked for in the state that had just been set aside, or not at all.
  @Test(arguments: ["journal", "round", "list"])
  func `a state is not set aside if some of its files are not there`(_ deleted: String) throws {
    let made = try rounds(6, seed: 12)
    let known = Set(try JournalReader.names(in: made.directory))
    for _ in 0..<3 { try made.addFailedList(ofRound: 1) }
    let added = try JournalReader.names(in: made.directory).filter { !known.contains($0) }
    try #require(!added.isEmpty)
    #expect(try made.sumUp(keeping: 1))
    let state = try #require(try JournalSet(in: [made.directory]).state)
    let second = try #require(state.manifests.all.first { $0.round == 2 && $0.parent == nil })
    let names: [[UInt8]] =
      switch deleted {
      case "journal": [second.journals[0].name]
      case "round": [second.name ?? []] + second.journals.map(\.name)
      default: added.map(\.bytes)
      }
    for name in names { try FileManager.default.removeItem(atPath: place.path("j/\(name.text)")) }
    #expect(try JournalSet(in: [made.directory]).state != nil)
    for _ in 0..<3 { try made.addFailedList(ofRound: 1) }
    let earlier = try EarlierManifests(of: JournalSet(in: [made.directory]), taking: .rounds(in: made.directory))
    #expect(earlier.journals.state == nil)
    let error = #expect(throws: BatchError.self) { try earlier.checkRounds() }
    #expect(error?.code == .journalUnreadable)
    #expect(error?.description.contains("is not beside") == true, "\(error?.description ?? "-")")
  }

  /// Regression: the files that the list needs were listed, and the list may be of any round.
  @Test func `nothing may be deleted if a manifest can't be found`() throws {
    let made = try rounds(6, seed: 11)
    #expect(try made.sumUp(keeping: 2))
    #expect(try !DeletableFiles(in: JournalSet(in: [made.directory])).paths.isEmpty)
    let head = JournalHead(
      manifest: "gone", shard: nil, url: "http://h/", boot: "b", manifestPath: place.local("gone"), parent: "another",
      run: "late")
    try place.write("j/journal-late.jsonl", head.json.line() + JournalMark.started(1).line())
    let files = try DeletableFiles(in: JournalSet(in: [made.directory]))
    #expect(files.paths.isEmpty)
    #expect(files.reason?.contains("the manifest gone, which can't be found") == true, "\(files.reason ?? "-")")
  }

  /// Regression: the run was asked for only if the state had the list.
  @Test func `nothing may be deleted while a run of an old list goes on`() throws {
    let made = try rounds(6, seed: 11)
    let list = try failedList(of: ManifestReader.header(of: place.local("j/manifest.jsonl")))
    #expect(try made.sumUp(keeping: 2))
    let header = try ManifestReader.header(of: list)
    let head = JournalHead(
      manifest: header.id, shard: nil, url: "http://h/", boot: "b", manifestPath: list, parent: header.parent, run: "late")
    let writer = try JournalWriter(in: DirectoryDescriptor(made.directory), head)
    let files = try DeletableFiles(in: JournalSet(in: [made.directory]))
    #expect(files.paths.isEmpty)
    #expect(files.reason?.contains("goes on") == true, "\(files.reason ?? "-")")
    try writer.close()
    #expect(try !DeletableFiles(in: JournalSet(in: [made.directory])).paths.isEmpty)
  }

  /// Regression: the run was not noticed before it had a journal, and went on without the files that it had been compared with.
  @Test(arguments: [true, false])
  func `a run of an old list looks again for its files after it has begun its journal`(_ hasState: Bool) throws {
    let made = try rounds(6, seed: 11)
    if hasState { #expect(try made.sumUp(keeping: 2)) }
    var batch = try batch()
    batch.manifest = try failedList(of: ManifestReader.header(of: place.local("j/manifest.jsonl")))
    batch.journal = made.directory
    let prepared = try PreparedBatch(batch)
    if !hasState { #expect(try made.sumUp(keeping: 2)) }
    try made.removeSummedUp()
    let error = #expect(throws: BatchError.self) { try prepared.beginJournal() }
    #expect(error?.code == .journalUnreadable)
  }

  /// Regression: a run that began while files were deleted did not use the state, and missed the files. A dangling link has a name
  /// and can't be found, as a file that is deleted after the directory was listed.
  @Test func `a file that is deleted meanwhile is no reason against the state`() throws {
    let made = try rounds(6, seed: 11)
    #expect(try made.sumUp(keeping: 2))
    try made.removeSummedUp()
    try FileManager.default.createSymbolicLink(atPath: place.path("j/manifest.jsonl"), withDestinationPath: "nowhere")
    let journals = try JournalSet(in: [made.directory])
    #expect(journals.state != nil, "\(journals.unusableState ?? "-")")
  }

  /// Regression: the journal that had just been deleted came back, and was empty.
  @Test func `whether a journal is in use is asked without making it`() throws {
    _ = JournalReader.isInUse(FileName("journal-gone.jsonl"), in: LocalPath(place.path))
    #expect(!FileManager.default.fileExists(atPath: place.path("journal-gone.jsonl")))
  }

  /// The rounds of another directory may be older than those of the state, so their order is known only from all files.
  @Test(arguments: [false, true])
  func `with another directory, all rounds are read or nothing is known`(_ isDeleted: Bool) throws {
    let made = try rounds(6, seed: 11)
    #expect(try made.sumUp(keeping: 2))
    if isDeleted { try made.removeSummedUp() }
    let other = try MadeRounds(seed: 12, in: TemporaryDirectory(inMemory: true))
    for _ in 0..<3 { try other.add() }
    let earlier = try EarlierManifests(of: JournalSet(in: [made.directory, other.directory]))
    #expect(earlier.journals.state == nil)
    guard isDeleted else {
      try earlier.checkRounds()
      #expect(earlier.paths.contains(made.directory.appending(RecordedListing.completeName.bytes)))
      return
    }
    let error = #expect(throws: BatchError.self) { try earlier.checkRounds() }
    #expect(error?.code == .journalUnreadable)
    #expect(error?.description.contains("put it back") == false)
  }

  /// Regression: the journals of the copy were said to be lost.
  @Test func `a state is used beside a copy of its directory`() throws {
    let made = try rounds(6, seed: 11)
    let copy = try TemporaryDirectory(inMemory: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: "\(made.directory)") {
      try FileManager.default.copyItem(atPath: "\(made.directory)/\(name)", toPath: copy.path(name))
    }
    #expect(try made.sumUp(keeping: 2))
    let earlier = try EarlierManifests(of: JournalSet(in: [made.directory, LocalPath(copy.path)]))
    try earlier.checkRounds()
    #expect(earlier.journals.state != nil)
  }

  /// Regression: the last version counted twice, and a report said that the file was accepted twice.
  @Test func `a version that is also the last one is added once if two paths become one`() {
    func entry(_ offset: Int64, modified: Int64, at time: Int64) -> RoundFindings.Entry {
      var file = BatchFile.made("a", size: 1, modified: modified)
      file.offset = offset
      var entry = RoundFindings.Entry(.file(file), .accepted)
      (entry.manifest, entry.period) = ("m", SendingPeriod(first: time, last: time + 1))
      return entry
    }
    var path = RoundFindings.PathFindings()
    path.add(entry(1, modified: 7, at: 1))
    let other = entry(2, modified: 8, at: 5)
    path.add(RoundFindings.PathFindings(last: other, accepted: other))
    #expect(path.result?.finding == .accepted)
  }
}
