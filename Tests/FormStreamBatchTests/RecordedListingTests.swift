import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

@testable import FormStreamBatch

/// The manifest that a run writes while it lists files.
@Suite struct RecordedListingTests {
  private let place: TemporaryDirectory
  private let directory: DirectoryDescriptor

  init() throws {
    place = try TemporaryDirectory(inMemory: true)
    directory = try DirectoryDescriptor(LocalPath(place.path))
  }

  private func listing(_ names: [Int], named name: String = "n") throws -> RecordedListing {
    let text = names.map { "\(place.path)/\($0)\n" }.joined()
    let listing = try RecordedListing(
      in: directory, at: LocalPath(place.path), named: name, followsLinks: false, hasJournals: { _ in true }
    ) { () throws(BatchError) in try FileListing([.text(text)]) }
    try listing.noteJournal()
    return listing
  }

  private func rest(_ listing: RecordedListing) throws -> [BatchFile] {
    var files: [BatchFile] = []
    while let file = try listing.next() { files.append(file) }
    return files
  }

  /// The names of the second listing, in its order.
  private static let changes: [[Int]] = [
    Array(0..<500), Array(3..<500), Array(0..<600), (0..<500).reversed(),
    Array(-200..<500), Array(0..<100) + Array(700..<710) + Array(105..<500),
    Array(0..<250) + [249, 249] + Array(250..<500), [],
  ]

  @Test func `while a run writes the manifest, no other one does`() throws {
    let first = try listing([1, 2])
    _ = try first.next()
    let error = #expect(throws: BatchError.self) { try listing([1, 2]) }
    #expect(error?.code == .journalInUse)
    #expect(try rest(first).count == 1)
  }

  /// Regression: the message said to wait until the other run has listed all files, which was over.
  @Test func `if another run has just completed the manifest, the message says that this one can begin again`() throws {
    let error = #expect(throws: BatchError.self) {
      try RecordedListing(
        in: directory, at: LocalPath(place.path), named: "n", followsLinks: false, hasJournals: { _ in true }
      ) { () throws(BatchError) in
        // This run has seen no manifest. Now the other one lists its only file, and ends.
        do { #expect(try rest(listing([1])).count == 1) } catch { Issue.record(error) }
        return try FileListing([.text("\(place.path)/1\n")])
      }
    }
    #expect(error?.code == .journalInUse)
    #expect(error?.description.contains("start this run again, and it goes on with that manifest") == true, "\(error as Any)")
    #expect(try directory.identity(of: RecordedRounds.name(of: 1, isPartial: true)) == nil)
  }

  @Test(arguments: changes)
  func `each file is listed once, whatever was listed before`(_ names: [Int]) throws {
    try {
      let first = try listing(Array(0..<500))
      for _ in 0..<300 { _ = try first.next() }
    }()
    let second = try rest(try listing(names))
    let numbers = second.map { Int($0.relative.lastComponent) ?? -1 }
    #expect(second.map(\.index) == Array(second.indices))
    #expect(Array(numbers.prefix(300)) == Array(0..<300))
    // What the second listing has and the first one had not so far, once.
    let expected = Set(names).subtracting(0..<300).sorted()
    #expect(numbers.dropFirst(300).sorted() == expected)

    // Now the manifest is complete, and nothing is listed.
    let third = try rest(try listing([]))
    #expect(third.map(\.path) == second.map(\.path))
    #expect(third.map(\.offset) == second.map(\.offset))
    let other = #expect(throws: BatchError.self) { try listing([], named: "another") }
    #expect(other?.code == .journalMisplaced)
  }

  @Test func `no record gets a place that a journal mentions`() throws {
    try {
      let first = try listing(Array(0..<5))
      _ = try first.next()
    }()
    let second = try listing(Array(0..<5))
    try second.leaveRoom(upTo: 200_000)
    let files = try rest(second)
    #expect(files.map(\.relative.lastComponent) == ["0", "1", "2", "3", "4"])
    #expect(files[0].offset < 200 && files[1].offset >= 200_000)
    #expect(try rest(try listing([])).map(\.offset) == files.map(\.offset))
  }

  /// Regression: the second run, which is refused, removed the manifest that the first one was writing.
  @Test func `a run that is refused leaves the new round of another one alone`() throws {
    try rest(try listing([1])).forEach { _ in }
    try makeDirectory(place.local("in"))
    try place.write("in/2", "2")
    let path = LocalPath(place.path)
    func newRound(_ begin: () throws(BatchError) -> Void) throws(BatchError) -> RecordedListing {
      let comparison = RecordedListing.Comparison(
        rounds: try RecordedRounds(in: path),
        manifests: try EarlierManifests(of: JournalSet(in: [path]), taking: .rounds(in: path)), rules: RoundRules(),
        sliceSize: nil, keepsAccepted: false, temporaryDirectory: path, cancellation: BatchCancellation())
      return try RecordedListing.newRound(
        in: directory, at: path, named: "n", followsLinks: false, after: comparison, { _ in }, makeCheck: { _ in nil }
      ) { () throws(BatchError) in
        try begin()
        return try FileListing([.path(place.local("in"))], ListingOptions())
      }
    }
    var refusal: BatchError?
    let first = try newRound { () throws(BatchError) in
      do throws(BatchError) { _ = try newRound {} } catch { refusal = error }
    }
    #expect(refusal?.code == .journalInUse)
    try first.noteJournal()
    #expect(try rest(first).count == 1)
    #expect(try RecordedRounds(in: path).lastNumber == 2)
  }

  @Test func `if too much of a manifest is lost, it is not continued`() throws {
    let error = #expect(throws: BatchError.self) { try listing([1]).leaveRoom(upTo: .max) }
    #expect(error?.code == .manifestMalformed)
  }
}
