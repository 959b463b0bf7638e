import FormStreamBatch
import FormStreamMultipart

/// A manifest that is written. It appears under its name when it is complete, and never takes the place of another: one
/// that is in use must not change.
final class ManifestOutput {
  private static let size = 64 * 1024

  private let output: OutputFile
  private var held: [UInt8] = []

  init(_ target: OutputTarget) throws(Failure) {
    output = try OutputFile(target, replacesFile: false)
  }

  /// Writes the first line.
  func begin(root: LocalPath?, hasOneRoot: Bool) throws(Failure) {
    try write(ManifestEncoder(root: root, hasOneRoot: hasOneRoot).header)
  }

  func write(_ line: [UInt8]) throws(Failure) {
    held += line
    if held.count >= Self.size { try flush() }
  }

  private func flush() throws(Failure) {
    // Even if writing fails: a part of the bytes may be written, and must not be written twice.
    defer { held.removeAll(keepingCapacity: true) }
    try output.write(held)
  }

  /// Gives the manifest its name.
  func commit() throws(Failure) {
    try flush()
    try output.commit()
  }
}
