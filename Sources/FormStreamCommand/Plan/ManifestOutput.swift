import FormStreamBatch
import FormStreamMultipart

/// A manifest that is being written. It gets its name only when it is complete, and never replaces another manifest: a
/// manifest that is in use must not change.
final class ManifestOutput {
  private let output: OutputFile
  private let lines: LineBuffer

  init(_ target: OutputTarget) throws(Failure) {
    output = try OutputFile(target, replacesFile: false)
    lines = LineBuffer(output)
  }

  /// Writes the first line.
  func begin(root: LocalPath?, hasOneRoot: Bool, round: Round? = nil, parent: String? = nil)
    throws(Failure)
  {
    try write(
      ManifestEncoder(root: root, hasOneRoot: hasOneRoot, round: round, parent: parent).header)
  }

  func write(_ line: [UInt8]) throws(Failure) { try lines.write(line) }

  /// Gives the manifest its name.
  func commit() throws(Failure) {
    try lines.flush()
    try output.commit()
  }
}
