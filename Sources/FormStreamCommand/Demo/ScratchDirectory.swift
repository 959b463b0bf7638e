import Foundation
import FormStreamMultipart

/// A temporary directory, which is removed with everything in it.
struct ScratchDirectory: Sendable {
  /// How often removal is tried while another process still writes into the directory.
  private static let maximumRemovals = 100

  private let url: URL

  /// What to do if the directory can't be made or is full.
  static let remedy =
    "Set TMPDIR to another directory: the demo needs about 1 GiB there for some seconds."

  init() throws(Failure) {
    let parent = FileManager.default.temporaryDirectory
    url = parent.appending(
      path: "formstream-\(UInt64.random(in: .min ... .max))", directoryHint: .isDirectory)
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      let cause =
        FileManager.default.fileExists(atPath: parent.path)
        ? "is not writable, or is full" : "does not exist"
      throw Failure(.inputOutput, "The directory \"\(parent.path)\" \(cause). \(Self.remedy)")
    }
  }

  /// The path of a name in the directory.
  func path(_ name: String) -> LocalPath { LocalPath(url.appending(path: name).path) }

  /// Removes the directory. Two threads may call this at once, even while others still write into the directory.
  func remove() {
    for _ in 0..<Self.maximumRemovals {
      try? FileManager.default.removeItem(at: url)
      if !FileManager.default.fileExists(atPath: url.path) { return }
    }
  }
}
