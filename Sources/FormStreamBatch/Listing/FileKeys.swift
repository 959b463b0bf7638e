import FormStreamMultipart
import FormStreamPlatform

/// Makes keys of files: two names of one file in a directory have the same key, however their paths are written. A link
/// that is followed, and a second hard link, are names of their own.
struct FileKeys {
  /// The directory of the last file, and its path without links. Most files have the same as the one before.
  private var last: (directory: LocalPath, resolved: [UInt8])?

  /// The key of a file: its path from the root of the system, with the links resolved that lead to the file's own root.
  mutating func key(of file: BatchFile) -> [UInt8] {
    let directory = file.root ?? LocalPath(bytes: file.path.directory.bytes)
    let rest = file.root == nil ? file.path.name.bytes : file.relative.bytes
    var key = resolvedPath(of: directory)
    let slash = UInt8(ascii: "/")
    for component in rest.split(separator: slash) where !component.elementsEqual(".".utf8) {
      if key.last != slash { key.append(slash) }
      key += component
    }
    return key
  }

  private mutating func resolvedPath(of directory: LocalPath) -> [UInt8] {
    if let last, last.directory == directory { return last.resolved }
    // What can't be resolved can't be sent either.
    let path = (try? resolved(directory)) ?? directory
    last = (directory, path.bytes)
    return path.bytes
  }
}
