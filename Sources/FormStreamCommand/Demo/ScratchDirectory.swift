import Foundation
import FormStreamMultipart

/// A directory that is there until it is removed, with all that is put into it.
struct ScratchDirectory: Sendable {
  /// How often it is tried to remove what others still put something into.
  private static let maximumRemovals = 100

  private let url: URL

  /// What the person can do where there is no place for it.
  static let remedy =
    "Name another directory by TMPDIR: the demo needs about 1 GiB there for some seconds."

  init() throws(Failure) {
    let place = FileManager.default.temporaryDirectory
    url = place.appending(
      path: "formstream-\(UInt64.random(in: .min ... .max))", directoryHint: .isDirectory)
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      let cause =
        FileManager.default.fileExists(atPath: place.path)
        ? "may not be written to, or is full" : "is not there"
      throw Failure(.inputOutput, "The directory \"\(place.path)\" \(cause). \(Self.remedy)")
    }
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
