import FormStreamMultipart
import FormStreamPlatform
import Glibc

/// A temporary directory, which is removed with everything in it.
struct ScratchDirectory: Sendable {
  /// How often removal is tried while another process still writes into the directory.
  private static let maximumRemovals = 100

  private let location: [UInt8]

  /// What to do if the directory can't be made or is full.
  static let remedy =
    "Set TMPDIR to another directory: the demo needs about 1 GiB there for some seconds."

  /// C: `mkdtemp`
  init() throws(Failure) {
    let parent = temporaryDirectory
    var template = (parent.bytes + Array("/formstream-XXXXXX".utf8) + [0]).map(
      CChar.init(bitPattern:))
    do throws(SystemError) {
      _ = try retryingInterrupts { mkdtemp(&template) == nil ? -1 : 0 }
    } catch {
      let cause = error.isPathMissing ? "does not exist" : "is not writable, or is full"
      throw Failure(.inputOutput, "The directory \"\(parent)\" \(cause). \(Self.remedy)")
    }
    location = template.dropLast().map(UInt8.init(bitPattern:))
  }

  /// The path of a name in the directory.
  func path(_ name: String) -> LocalPath { LocalPath(bytes: location + [0x2F] + Array(name.utf8)) }

  /// Removes the directory. Two threads may call this at once, even while others still write into the directory.
  func remove() {
    for _ in 0..<Self.maximumRemovals {
      if removeTree(LocalPath(bytes: location)) { return }
    }
  }
}

/// Removes a directory with everything in it. Returns false if something is still there, which was added meanwhile.
///
/// C: `opendir`, `readdir`, `unlink`, `rmdir`
private func removeTree(_ directory: LocalPath) -> Bool {
  if let stream = directory.withCString({ opendir($0) }) {
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      // An entry is only as long as its name: a copy of the complete field would read after its end.
      guard let start = entry.pointer(to: \.d_name) else { continue }
      let text = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
      let name = Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
      if [[0x2E], [0x2E, 0x2E]].contains(name) { continue }
      let path = LocalPath(bytes: directory.bytes + [0x2F] + name)
      if path.withCString({ unlink($0) }) != 0 { _ = removeTree(path) }
    }
  }
  return directory.withCString { rmdir($0) == 0 || errno == ENOENT }
}
