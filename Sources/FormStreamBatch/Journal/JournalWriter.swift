import FormStreamDigest
package import FormStreamPlatform
import FormStreamHTTP
import FormStreamJSON

/// Writes a journal. Each start of a run creates a file of its own, and no other run writes to that file.
///
/// Each line is written with one `write`. The records of one request are also written with one `write`. So no line is lost
/// if the process is killed. The lines are synchronized with the disk once a second, and at the end. After a failure,
/// nothing more is written, because a line after a torn line could not be read.
package final class JournalWriter: Sendable {
  private struct State {
    var hasUnsynchronized = false
    var isClosed = false
    var failure: BatchError?
  }

  private let file: AppendedFile
  private let name: String
  private let state = Guarded(State())
  private let end = AutoResetEvent()

  /// Creates the journal in a directory, and writes its first line. The first line is on the disk before any request
  /// begins. So if the system crashes and a journal has no first line, its run sent nothing.
  ///
  /// - Throws: `writeFailed`.
  package init(in directory: DirectoryDescriptor, _ head: JournalHead) throws(BatchError) {
    let shard = head.shard?.split(separator: "/").joined(separator: "-of-") ?? "all"
    let fileName = FileName("\(Self.prefix)\(shard)-\(head.run ?? UUIDText.random())\(Self.suffix)")
    name = String(decoding: fileName.bytes, as: UTF8.self)
    do throws(SystemError) {
      file = try AppendedFile(fileName, in: directory)
    } catch {
      throw Self.failed(error, name)
    }
    // A run that sums up old rounds leaves out those that are still sent. Some file systems have no locks.
    _ = try? file.lock()
    try append(head.json.line())
    do throws(SystemError) { try file.synchronize() } catch { throw Self.failed(error, name) }
    // Some file systems can't synchronize a directory.
    try? directory.synchronize()
    guard startThread("formstream-sync", { [self] in synchronizeEachSecond() }) else {
      throw BatchError(
        .writeFailed, on: name,
        "The journal \(name.quoted) can't be kept: the system has no threads left.")
    }
  }

  private static let prefix = "journal-"
  private static let suffix = ".jsonl"

  /// The parts of a journal's name.
  struct Name {
    let shard: String?
    let run: String

    /// Nil if a run doesn't name its journal so.
    init?(_ name: FileName) {
      guard isJournal(name) else { return nil }
      let text = String(decoding: name.bytes.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count), as: UTF8.self)
      // A UUID has five groups of digits.
      let pieces = text.split(separator: "-", omittingEmptySubsequences: false)
      let run = pieces.suffix(5).joined(separator: "-")
      let part = pieces.dropLast(5).joined(separator: "-")
      guard run.utf8.count == 36, pieces.suffix(5).allSatisfy({ $0.allSatisfy(\.isHexDigit) }) else { return nil }
      self.run = run
      shard = part == "all" ? nil : part.replacing("-of-", with: "/")
      guard shard.map({ Shard(text: $0) != nil }) ?? true else { return nil }
    }
  }

  /// Whether a file of that name is a journal.
  package static func isJournal(_ name: FileName) -> Bool {
    name.bytes.starts(with: prefix.utf8)
      && name.bytes.suffix(suffix.utf8.count) == Array(suffix.utf8)[...]
  }

  /// Notes that a request for the file begins. The request must not begin if this method throws.
  package func noteStarted(_ offset: Int64) throws(BatchError) {
    try append(JournalMark.started(offset).line())
  }

  /// Notes that the first slices of the file are accepted.
  func note(_ slices: AcceptedSlices, of offset: Int64) throws(BatchError) {
    try append(JournalMark.accepted(offset, slices).line())
  }

  /// Notes the data that continue the upload of the file; nil if it can't be continued any more.
  func note(_ upload: UploadResumeData?, of offset: Int64) throws(BatchError) {
    try append(JournalMark.unfinished(offset, upload).line())
  }

  /// Appends the records of results, in one write, with what the records don't say.
  func append(_ results: [FileResult]) throws(BatchError) {
    try append(
      results.flatMap { result in
        result.record.line() + (result.isStoredPerhaps ? JournalMark.storedPerhaps(result.file.offset).line() : [])
      })
  }

  /// Appends lines.
  package func append(_ line: [UInt8]) throws(BatchError) {
    try state.withLock { state throws(BatchError) in
      if let failure = state.failure { throw failure }
      do throws(SystemError) {
        try file.append(line)
        state.hasUnsynchronized = true
      } catch {
        let failure = Self.failed(error, name)
        state.failure = failure
        throw failure
      }
    }
  }

  /// Writes the last line, synchronizes and closes the file.
  ///
  /// - Parameter isComplete: whether the run has gone through all files.
  package func close(isComplete: Bool = false) throws(BatchError) {
    end.signal()
    do throws(SystemError) {
      // The last line says that no line is missing, so the other lines must be on the disk before it.
      try file.synchronize()
    } catch {
      throw Self.failed(error, name)
    }
    try append(JournalMark.closed(isComplete: isComplete).line())
    state.withLock { $0.isClosed = true }
    do throws(SystemError) {
      try file.synchronize()
      try file.close()
    } catch {
      throw Self.failed(error, name)
    }
  }

  /// Ends the journal without its last line, as if the process had been killed.
  package func abandon() {
    state.withLock { $0.isClosed = true }
    end.signal()
  }

  private func synchronizeEachSecond() {
    while !end.wait(atMost: .seconds(1)) {
      let isDue = state.withLock { state in
        defer { state.hasUnsynchronized = false }
        return state.hasUnsynchronized && !state.isClosed
      }
      guard isDue else { continue }
      do throws(SystemError) {
        try file.synchronize()
      } catch {
        let failure = Self.failed(error, name)
        state.withLock { $0.failure = $0.failure ?? failure }
      }
    }
  }

  private static func failed(_ error: SystemError, _ name: String) -> BatchError {
    BatchError(
      .writeFailed, on: name,
      "The journal \(name.quoted) can't be written: \(error). What it doesn't hold can't be resumed: check the "
        + "directory and its disk.", underlying: error)
  }
}
