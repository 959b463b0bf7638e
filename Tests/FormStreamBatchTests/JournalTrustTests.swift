import FormStreamHTTP
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

@testable import FormStreamBatch

/// Journals whose uploads are not continued, because others may have written them.
@Suite struct JournalTrustTests {
  private let place: TemporaryDirectory

  init() throws { place = try TemporaryDirectory(inMemory: true) }

  /// The line about an upload that broke off.
  ///
  /// - Parameter file: the file in it; nil if its body has no file.
  private static func line(_ offset: Int64, of file: String?) throws -> [UInt8] {
    let files = file.map { name -> [JSONValue] in
      let path = JSONValue.string(base64(Array(name.utf8)))
      return [["path_b64": path, "inode": 1, "size": 9, "modified": [1, 1], "changed": [1, 1], "offset": 0, "length": 9]]
    }
    let upload: JSONValue = [
      "schema": "formstream.resume/1", "url": "http://h/", "method": "POST", "total": 9, "boundary": .null,
      "sha256_of_rest": .string(String(repeating: "0", count: 64)), "files": .array(files ?? []),
      "upload_url": "http://h/u", "protocol": "http", "confirmed": 5,
    ]
    return JournalMark.unfinished(offset, UploadResumeData(upload)).line()
  }

  /// Writes a journal with that line.
  private func journal(_ number: Int, of manifest: String, _ line: [UInt8], mode: mode_t = 0o600) throws {
    let run = "11111111-1111-4111-8111-11111111111\(number)"
    let head = JournalHead(manifest: manifest, shard: nil, url: "http://h/", boot: "b", begun: 5, run: run)
    let name = "journal-all-\(run).jsonl"
    try place.write(name, head.json.line() + line)
    #expect(chmod(place.path(name), mode) == 0)
  }

  private func index(of manifest: String) throws -> JournalIndex {
    try JournalIndex(
      of: ManifestExtent(id: manifest, records: nil), in: JournalSet(in: [LocalPath(place.path)]), boot: "b")
  }

  @Test func `an upload in a journal that others can write to is not continued`() throws {
    try journal(1, of: "m", try Self.line(100, of: "a"))
    try index(of: "m").checkUploads()
    try journal(2, of: "m", try Self.line(200, of: "b"), mode: 0o666)
    let error = #expect(throws: BatchError.self) { try index(of: "m").checkUploads() }
    #expect(error?.code == .journalNotTrusted && error?.description.contains("run chmod 600 on it") == true, "\(error as Any)")
  }

  /// Regression: if another upload of the round before had the same path, it depended on chance which of them was checked. If an upload
  /// had no file, it was not checked.
  @Test(arguments: ["a", nil])
  func `the uploads of the round before are checked, too`(_ file: String?) throws {
    for number in 1...9 {
      let manifest = "m\(number)"
      try journal(1, of: manifest, try Self.line(100, of: "a"))
      try journal(2, of: manifest, try Self.line(Int64(100 + 50 * number), of: file), mode: 0o666)
      let earlier = try index(of: manifest)
      let error = #expect(throws: BatchError.self) {
        var new = JournalIndex()
        try new.takeUnfinished(of: earlier)
        try new.checkUploads()
      }
      #expect(error?.code == .journalNotTrusted)
    }
  }

  @Test(arguments: [
    (AppendedFile.Ownership.open, "run chmod 600 on it"), (.foreign, "another user"), (.special, "device or a pipe"),
  ])
  func `the reason and the remedy are named`(_ ownership: AppendedFile.Ownership, _ says: String) throws {
    let error = try #require(BatchError.uploadsNotTrusted("j/journal-1.jsonl", ownership))
    #expect(error.code == .journalNotTrusted && error.subject == "j/journal-1.jsonl")
    #expect(error.description.contains(says) && error.description.contains(#""j/journal-1.jsonl""#), "\(error)")
    #expect(error.description.contains("leave out TransferOptions.resumption"), "\(error)")
  }

  @Test func `the owner's own journal is trusted`() {
    #expect(BatchError.uploadsNotTrusted("journal-1.jsonl", .own) == nil)
  }
}
