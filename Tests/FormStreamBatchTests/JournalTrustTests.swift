import FormStreamPlatform
import Testing

@testable import FormStreamBatch

/// Journals whose uploads are not continued, because others may have written them.
@Suite struct JournalTrustTests {
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
