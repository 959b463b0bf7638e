import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform

/// A manifest that is being written. It gets its name only when it is complete, and does not replace another manifest: a
/// manifest that is in use must not change. Only a list of failed files replaces an earlier one, so that the same command can be
/// run every night: a run that sends such a list keeps a copy of it.
final class ManifestOutput {
  private let output: OutputFile
  private let lines: LineBuffer

  /// - Parameter isFailedList: whether the manifest is a list of failed files.
  init(_ target: OutputTarget, isFailedList: Bool = false) throws(Failure) {
    let isReplaced =
      isFailedList
      && target.path.map { path in
        !JournalReader.isRecord(path.name) && (try? ManifestReader(path))?.isFailedList == true
      } == true
    output = try OutputFile(
      target, of: isFailedList ? "--failed" : "-o", replacesFile: isReplaced, isSynchronized: true)
    lines = LineBuffer(output)
  }

  /// Writes the first line.
  func begin(_ encoder: ManifestEncoder) throws(Failure) { try write(encoder.header) }

  func write(_ line: [UInt8]) throws(Failure) { try lines.write(line) }

  /// Gives the manifest its name.
  func commit() throws(Failure) {
    try lines.flush()
    try output.commit()
  }
}
