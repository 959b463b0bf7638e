import Glibc
import FormStreamMultipart
import FormStreamTestSupport

/// What is at a path; links are not followed.
enum TreeEntry: Equatable {
  case directory
  case file([UInt8])
  case link
  case other
}

/// Everything below a directory, by relative path. Paths are compared as bytes: to Swift's strings, two encodings of one
/// character are equal.
func tree(of directory: String) throws -> [LocalPath: TreeEntry] {
  var entries: [LocalPath: TreeEntry] = [:]
  try walk(Array(directory.utf8), as: [], into: &entries)
  return entries
}

private func walk(
  _ path: [UInt8], as relative: [UInt8], into entries: inout [LocalPath: TreeEntry]
) throws {
  guard let stream = withCPath(path, { opendir($0) }) else { throw SystemError(number: errno) }
  defer { closedir(stream) }
  while let entry = readdir(stream) {
    guard let start = entry.pointer(to: \.d_name) else { continue }
    let text = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
    let name = UnsafeRawBufferPointer(start: text, count: strlen(text)).map(\.self)
    if name == Array(".".utf8) || name == Array("..".utf8) { continue }
    let fullPath = path + [UInt8(ascii: "/")] + name
    let entryPath = relative.isEmpty ? name : relative + [UInt8(ascii: "/")] + name
    var status = stat()
    guard withCPath(fullPath, { lstat($0, &status) }) == 0 else { throw SystemError(number: errno) }
    switch status.st_mode & S_IFMT {
    case S_IFDIR:
      entries[LocalPath(bytes: entryPath)] = .directory
      try walk(fullPath, as: entryPath, into: &entries)
    case S_IFREG: entries[LocalPath(bytes: entryPath)] = .file(try contents(of: fullPath))
    case S_IFLNK: entries[LocalPath(bytes: entryPath)] = .link
    default: entries[LocalPath(bytes: entryPath)] = .other
    }
  }
}

private func contents(of path: [UInt8]) throws -> [UInt8] {
  let descriptor = withCPath(path) { open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
  guard descriptor >= 0 else { throw SystemError(number: errno) }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    guard count >= 0 else { throw SystemError(number: errno) }
    if count == 0 { return bytes }
    bytes += buffer[..<count]
  }
}
