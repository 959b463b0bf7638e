import FormStreamMultipart
import FormStreamPlatform

/// Makes keys that identify files: different spellings of one path have the same key. A link that is followed, and a second
/// hard link, have keys of their own.
struct FileKeys {
  /// The directory of the last file, and the directory's path without links. Most files are in the same directory as the
  /// file before.
  private var last: (directory: LocalPath, resolved: [UInt8])?

  /// The key of a file: its path from the root of the system. Links in the path of the file's own root are resolved; links
  /// below that root are not.
  mutating func key(of file: BatchFile) -> [UInt8] {
    // There may be a link before "..", so only the system knows where such a path leads.
    let root = file.relative.hasParents ? nil : file.root
    let directory = root ?? LocalPath(bytes: file.path.directory.bytes)
    let rest = root == nil ? file.path.name.bytes : file.relative.bytes
    var key = resolvedPath(of: directory)
    let slash = UInt8(ascii: "/")
    for component in rest.split(separator: slash) where !component.elementsEqual(".".utf8) {
      if key.last != slash { key.append(slash) }
      key += component
    }
    return key
  }

  /// The key of a directory.
  mutating func key(ofDirectory directory: LocalPath) -> [UInt8] { resolvedPath(of: directory) }

  private mutating func resolvedPath(of directory: LocalPath) -> [UInt8] {
    if let last, last.directory == directory { return last.resolved }
    // A file whose directory can't be resolved can't be sent either.
    let path = (try? resolved(directory)) ?? directory
    last = (directory, path.bytes)
    return path.bytes
  }
}
