import Foundation
import Multipart

/// A directory that is there for as long as its owner, with all that is put into it.
final class ScratchDirectory {
  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(
      path: "formstream-\(UInt64.random(in: .min ... .max))", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Where something of that name is, or goes.
  func path(_ name: String) -> LocalPath { LocalPath(url.appending(path: name).path) }
}
