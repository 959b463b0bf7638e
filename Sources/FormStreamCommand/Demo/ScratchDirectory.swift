import Foundation
import Multipart

/// A directory that is there until it is removed, with all that is put into it.
struct ScratchDirectory: Sendable {
  /// How often it is tried to remove what others still put something into.
  private static let maximumRemovals = 100

  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(
      path: "formstream-\(UInt64.random(in: .min ... .max))", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// Where something of that name is, or goes.
  func path(_ name: String) -> LocalPath { LocalPath(url.appending(path: name).path) }

  /// Removes it. That may be done by two threads at once, and while others put something into it: once it is
  /// gone, they can't.
  func remove() {
    for _ in 0..<Self.maximumRemovals {
      try? FileManager.default.removeItem(at: url)
      if !FileManager.default.fileExists(atPath: url.path) { return }
    }
  }
}
