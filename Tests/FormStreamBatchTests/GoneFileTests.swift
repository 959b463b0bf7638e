import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Testing

@testable import FormStreamBatch

/// Files that were gone for a night, and what has their names after that.
@Suite struct GoneFileTests {
  private let place: TemporaryDirectory
  private let server: ScriptedServer
  /// The status of all responses.
  private let status = Guarded(200)

  init() throws {
    place = try TemporaryDirectory()
    server = try ScriptedServer { [status] _ in
      [.readBody, .decide { _ in [.respond(status.withLock(\.self))] }]
    }
    try makeDirectory(place.local("in"))
    try place.write("in/stays", "stays")
    try write("one")
  }

  /// Gives the file other contents of the same size and time.
  private func write(_ contents: String) throws {
    try place.write("in/f", contents)
    let time = Date(timeIntervalSince1970: 1_000_000_000)
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: place.path("in/f"))
  }

  /// Sends what is new. Returns how many requests had these contents.
  @discardableResult
  private func night(puts: Bool = false, having contents: String = "") async throws -> Int {
    let before = server.requests.count
    let source = BatchSource.path(place.local("in"))
    var batch = puts ? try Batch(putting: [source], to: "\(server.url)/{name}") : try Batch([source], to: server.url)
    batch.journal = place.local("journal")
    batch.request.options.retry.attempts = 0
    try await batch.start().end()
    return server.requests.dropFirst(before).count { String(decoding: $0.body, as: UTF8.self).contains(contents) }
  }

  private func remove() throws { try FileManager.default.removeItem(atPath: place.path("in/f")) }

  /// Found by a trial of 1,200 nights. The round that listed the file again could not deliver it, and the rounds after it took the file
  /// for the one that was accepted before it was gone.
  @Test(arguments: [false, true])
  func `a file that has come back as another one is sent until it is accepted`(_ puts: Bool) async throws {
    try await night(puts: puts)
    try remove()
    try await night(puts: puts)
    try write("two")
    status.withLock { $0 = 422 }
    #expect(try await night(puts: puts, having: "two") == 1)
    #expect(try await night(puts: puts, having: "two") == 1)
    status.withLock { $0 = 200 }
    #expect(try await night(puts: puts, having: "two") == 1)
    #expect(try await night(puts: puts) == 0)
  }

  /// What the program removes by this list may be another file.
  @Test func `a file that has come back is not in the list of accepted files until it is accepted`() async throws {
    func accepted() throws -> [String] {
      var names: [String] = []
      _ = try BatchReport(
        on: try RecordedRounds(in: place.local("journal")).manifests, in: [place.local("journal")],
        accepted: { names.append($0.relative.description) }, begin: { _ in }, rest: { _ in })
      return names.sorted()
    }
    try await night()
    #expect(try accepted() == ["f", "stays"])
    try remove()
    try await night()
    try write("two")
    #expect(try accepted() == ["stays"])
    try await night()
    #expect(try accepted() == ["f", "stays"])
  }
}

/// What a comparison says about files that can't be read.
@Suite struct UnreadableFileTests {
  private let place: TemporaryDirectory

  init() throws {
    place = try TemporaryDirectory(inMemory: true)
  }

  private static func file(isReadable: Bool = true) -> BatchFile { .made("f", size: 2, isReadable: isReadable) }

  /// Writes the manifest of a round with one record, and a journal with these lines.
  private func round(_ number: Int, _ line: [UInt8], _ lines: [String], sliceSize: Int64? = nil) throws -> LocalPath {
    try place.makeRound(number, [(line, lines)], sliceSize: sliceSize)
  }

  private func lines(
    _ manifests: [LocalPath], _ file: BatchFile, sliceSize: Int64? = nil
  ) throws -> [String] {
    let earlier = try EarlierManifests(of: JournalSet(in: [LocalPath(place.path)]), named: manifests)
    var comparison = RoundComparison(RoundRules(), against: earlier, sliceSize: sliceSize, in: LocalPath(place.path))
    for manifest in manifests { try comparison.add(manifest, boot: "b") }
    var entries = try comparison.compare(MadeListing([file]))
    return try entries.lines()
  }

  @Test func `a file that was gone and then could not be read may be another one`() throws {
    let record = #"{"schema":"formstream.record/1","offset":OFFSET,"outcome":"ok"}"#
    let manifests = [
      try round(1, ManifestEncoder.line(for: Self.file()), [record]),
      try round(2, ManifestEncoder.line(for: "f", isGone: true), []),
      try round(3, ManifestEncoder.line(for: Self.file(isReadable: false)), []),
    ]
    let lines = try lines(manifests, Self.file())
    #expect(lines.count == 1 && lines[0].contains(#""size":2"#), "\(lines)")
  }

  @Test(arguments: [false, true])
  func `a file of which the server has a slice is marked if it can't be read`(_ isBegun: Bool) throws {
    let slices = #"{"schema":"formstream.slices/1","offset":OFFSET,"accepted":1,"ctime_ns":7}"#
    let first = try round(1, ManifestEncoder.line(for: Self.file()), isBegun ? [slices] : [], sliceSize: 1)
    let lines = try lines([first], Self.file(isReadable: false), sliceSize: 1)
    #expect(lines.count == 1 && lines[0].contains(#""maybe_duplicate":true"#) == isBegun, "\(lines)")
  }
}
