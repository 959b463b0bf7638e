public import FormStreamMultipart
import Glibc

/// Whether the system can be told to forget a file's contents there: on a local disk, and not in memory.
public func hasDisk(_ place: TemporaryDirectory) throws -> Bool {
  let type = try run(program: "/usr/bin/stat", ["-f", "-c", "%T", place.path]).output
  return ["ext2/ext3", "xfs", "btrfs", "f2fs"].contains(type.split(separator: "\n").first)
}

/// Writes a file, and makes the system forget its contents: reading it has to wait for the disk.
public func writeUncached(
  _ name: String, _ bytes: [UInt8], in place: TemporaryDirectory
) throws -> LocalPath {
  let path = try place.write(name, bytes)
  let descriptor = withCPath(path.bytes) { open($0, O_RDONLY | O_CLOEXEC) }
  guard descriptor >= 0 else { throw SystemError(number: errno) }
  defer { close(descriptor) }
  guard fsync(descriptor) == 0, posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0 else {
    throw SystemError(number: errno)
  }
  return path
}
