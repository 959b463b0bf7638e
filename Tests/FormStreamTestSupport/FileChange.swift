import Glibc
public import FormStreamMultipart

/// A change that another program may make to a file while it is sent.
public enum FileChange: String, CaseIterable, Sendable {
  /// The file is cut short.
  case shrink
  /// Bytes are added at its end.
  case grow
  /// All bytes are overwritten, and the size stays.
  case rewrite
  /// All bytes are overwritten, and the modification time is restored.
  case rewriteWithTimeSetBack
  /// Another file of the same size replaces it.
  case renameOver
  /// The file is removed.
  case unlink

  /// Makes the change to a file of `size` bytes.
  public func apply(to path: LocalPath, size: Int) throws {
    let other = [UInt8](repeating: UInt8(ascii: "#"), count: size)
    switch self {
    case .shrink:
      try check(withCPath(path.bytes) { truncate($0, off_t(size - 1)) })
    case .grow:
      try write(path, [1], at: size)
    case .rewrite:
      try write(path, other, at: 0)
    case .rewriteWithTimeSetBack:
      var before = stat()
      try check(withCPath(path.bytes) { stat($0, &before) })
      try write(path, other, at: 0)
      let times = [before.st_atim, before.st_mtim]
      try check(withCPath(path.bytes) { utimensat(AT_FDCWD, $0, times, 0) })
    case .renameOver:
      let replacement = LocalPath(bytes: path.bytes + Array(".new".utf8))
      try writeFile(replacement, other)
      try check(
        withCPath(replacement.bytes) { from in withCPath(path.bytes) { to in rename(from, to) } })
    case .unlink:
      try check(withCPath(path.bytes) { Glibc.unlink($0) })
    }
  }

  private func write(_ path: LocalPath, _ bytes: [UInt8], at offset: Int) throws {
    let descriptor = withCPath(path.bytes) { open($0, O_WRONLY | O_CLOEXEC) }
    try check(descriptor)
    defer { close(descriptor) }
    lseek(descriptor, off_t(offset), Int32(SEEK_SET))
    try writeAll(bytes, to: descriptor)
  }

  private func check(_ result: Int32) throws {
    if result < 0 { throw SystemError(number: errno) }
  }
}
