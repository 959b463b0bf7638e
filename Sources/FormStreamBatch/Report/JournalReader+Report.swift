import FormStreamHTTP

/// Reads what only a report needs from a journal. Records are searched and not parsed, because there may be ten million. In
/// a JSON string, each quotation mark has a backslash before it, so the texts that are searched for are never inside a
/// string.
extension JournalReader {
  /// Whether a record says that the server may have accepted the file in an earlier run.
  static func isMaybeDuplicate(_ line: [UInt8]) -> Bool {
    line.contains(Array("\"maybe_duplicate\":true".utf8))
  }

  /// Whether a record says that the file was missing or could not be read, or that a file that TLS needs can't be used.
  static func isUnreadable(_ line: [UInt8]) -> Bool {
    let codes: [BatchError.Code] = [
      .inputMissing, .inputUnreadable, .notAFile, .outsideRoot, .linkLoop, .nestedTooDeep,
    ]
    return (codes.map(\.rawValue) + [TransferError.Code.tlsFileUnusable.rawValue])
      .contains { line.contains(Array("\"error\":{\"code\":\"\($0)\"".utf8)) }
  }
}
