import FormStreamPlatform
import Glibc

/// A directory for temporary files, which is removed with this object.
final class ScratchDirectory {
  let path: String

  /// C: `mkdtemp`
  init(in parent: String) throws(SystemError) {
    var template = Array("\(parent)/formstream-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(number: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// C: `opendir`, `unlink`, `rmdir`
  deinit {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { unlink("\(path)/\(name)") }
      }
      closedir(directory)
    }
    rmdir(path)
  }

  /// The last bytes of a file; none if it can't be read.
  ///
  /// C: `open`, `lseek`, `pread`
  static func lastBytes(of path: String, _ count: Int) -> [UInt8] {
    let number = open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return [] }
    defer { close(number) }
    let end = lseek(number, 0, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: count)
    let read = pread(number, &bytes, count, max(0, end - count))
    return Array(bytes.prefix(max(0, read)))
  }

  /// Makes a file that has only zeros, and takes no room on the disk.
  ///
  /// C: `open`, `ftruncate`
  func makeSparse(_ name: String, size: Int64) throws(SystemError) -> String {
    let path = "\(path)/\(name)"
    let number = try retryingInterrupts { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
    defer { close(number) }
    _ = try retryingInterrupts { ftruncate(number, off_t(size)) }
    return path
  }
}
