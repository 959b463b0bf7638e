package import FormStreamMultipart

/// The files of a report that were not accepted, all of them, with the reasons. They wait on the disk until the journals are
/// read for the reasons, so memory does not grow with their number.
package final class FailureList {
  /// A file that was not accepted.
  package struct Failure: Sendable {
    package let path: LocalPath
    /// What the file is counted as; nil if no journal has a result.
    package let state: BatchState?
    /// The status of the response; nil if there was none.
    package let status: Int64?
    /// What the server said or, if it said nothing, why the file was not accepted.
    package let text: String
  }

  /// How many files are looked for together, in one reading of the journals.
  private static let window = 65536

  private let lines: NumberedLines

  /// - Parameter directory: the directory for temporary files.
  package init(in directory: LocalPath) {
    lines = NumberedLines(in: directory)
  }

  func add(_ file: BatchReport.Unaccepted) throws(BatchError) {
    var stored = StoredBytes()
    stored.add(file.path.bytes)
    stored.add(Array((file.state?.rawValue ?? "").utf8))
    stored.add(Array(file.manifest.utf8))
    stored.add(file.offset)
    stored.add(file.record)
    try lines.add(stored.bytes)
  }

  /// Passes on each file, in the order of the report. No file can be added after this call.
  package func forEach<Problem: Error>(
    of report: BatchReport, _ receive: (Failure) throws(Problem) -> Void
  ) throws {
    var files: [BatchReport.Unaccepted] = []
    repeat {
      files.removeAll(keepingCapacity: true)
      while files.count < Self.window, let line = try lines.next() {
        var stored = StoredBytes(line)
        files.append(
          BatchReport.Unaccepted(
            path: LocalPath(bytes: stored.list()), state: BatchState(rawValue: stored.text()), manifest: stored.text(),
            offset: stored.number(), record: stored.list()))
      }
      for (file, result) in zip(files, try RunHistory.results(of: files, in: report)) {
        try receive(
          Failure(
            path: file.path, state: file.state, status: result?.status,
            text: result.map { $0.shortReason ?? "" } ?? file.reasonWithoutResult))
      }
    } while files.count == Self.window
  }
}
