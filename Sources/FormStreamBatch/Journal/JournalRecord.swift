import FormStreamJSON
import FormStreamHTTP
import FormStreamPlatform

/// What a record in a journal says about a file: the members of a `formstream.record/2` that a later run or a report needs.
package struct JournalRecord: Hashable, Sendable {
  /// The outcome; nil if it is a word that this version doesn't know.
  var state: BatchState?
  /// Whether the server may have accepted the file in an earlier run.
  var isMaybeDuplicate = false
  /// Whether the server did not confirm the file.
  var isMismatch = false
  /// Whether the file was missing or could not be read, or a file that TLS needs can't be used.
  var isUnreadable = false

  /// The size of the file in bytes, and when it was last written to, in nanoseconds since 1970.
  var size: Int64?
  var modified: Int64?
  /// The digest of the file, if the run computed it.
  var sha256: SHA256Digest?

  /// Whether a member, the first of a line, says that the line is a record. The record had no times before.
  static func isSchema(_ member: JSONMembers.Member) -> Bool {
    member.hasText(FileResult.schema, for: "schema") || member.hasText("formstream.record/1", for: "schema")
  }

  /// Reads a line; nil if it is no complete record. The members that are not needed are skipped and not parsed, because a
  /// journal may have ten million records.
  static func read(_ line: UnsafeRawBufferPointer) -> (offset: Int64, record: JournalRecord)? {
    var members = JSONMembers(of: line)
    guard let first = members.next(), isSchema(first) else { return nil }
    var record = JournalRecord()
    var offset: Int64?
    var hasOutcome = false
    while let member = members.next() {
      switch member.key.count {
      case 6 where member.key.spells("offset"): offset = member.number
      case 4 where member.key.spells("size"): record.size = member.number
      case 8 where member.key.spells("mtime_ns"): record.modified = member.number
      case 6 where member.key.spells("sha256"):
        record.sha256 = member.text.flatMap { SHA256Digest(String(decoding: $0, as: UTF8.self)) }
      case 7 where member.key.spells("outcome"):
        hasOutcome = member.text != nil
        record.state = member.text.flatMap { BatchState(rawValue: String(decoding: $0, as: UTF8.self)) }
      case 15 where member.key.spells("maybe_duplicate"):
        record.isMaybeDuplicate = member.value.spells("true")
      case 5 where member.key.spells("error"): record.note(error: member.value)
      default: break
      }
    }
    guard members.isComplete, hasOutcome, let offset, offset >= 0 else { return nil }
    return (offset, record)
  }

  private mutating func note(error: UnsafeRawBufferPointer) {
    var members = JSONMembers(of: error)
    guard let code = members.next(), code.key.spells("code"), let text = code.text else { return }
    isMismatch = text.spells("digest-mismatch")
    isUnreadable = Self.codesOfUnreadableFiles.contains(String(decoding: text, as: UTF8.self))
  }

  private static let codesOfUnreadableFiles: Set<String> = {
    let codes: [BatchError.Code] = [
      .inputMissing, .inputUnreadable, .notCompared, .notAFile, .outsideRoot, .linkLoop, .nestedTooDeep,
    ]
    return Set(codes.map(\.rawValue) + [TransferError.Code.tlsFileUnusable.rawValue])
  }()
}
