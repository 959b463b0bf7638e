import Glibc
public import FormStreamMultipart

/// A directory for one test, removed with its contents when this object is released.
public final class TemporaryDirectory: Sendable {
  /// The directory's path, without a slash at its end.
  public let path: String

  /// Creates the directory below the system's directory for temporary files.
  ///
  /// - Parameter inMemory: whether it is in memory, if possible. A disk's journal is slow with ten thousand names.
  public init(inMemory: Bool = false) throws {
    let shared = "/dev/shm"
    let parent =
      inMemory && access(shared, W_OK | X_OK) == 0
      ? shared : getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = "\(parent)/formstream-test-XXXXXX".utf8CString.map(\.self)
    guard mkdtemp(&template) != nil else { throw SystemError(number: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { removeTree(Array(path.utf8)) }

  /// The path of `name` in this directory, whether it exists or not.
  public func path(_ name: String) -> String { "\(path)/\(name)" }

  /// The path of `name` as a `LocalPath`.
  public func local(_ name: String) -> LocalPath { LocalPath(path(name)) }

  /// Writes a file, replacing the contents of an existing one, and returns its path.
  @discardableResult
  public func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> LocalPath {
    try writeFile(local(name), bytes)
  }

  /// Creates a file of zeros that takes no space on the disk.
  public func sparse(_ name: String, size: Int64) throws -> LocalPath {
    let path = try write(name, [])
    guard withCPath(path.bytes, { truncate($0, off_t(size)) }) == 0 else {
      throw SystemError(number: errno)
    }
    return path
  }

  /// Writes text to a file, and returns its path.
  @discardableResult
  public func write(_ name: String, _ text: String) throws -> LocalPath {
    try write(name, Array(text.utf8))
  }
}

/// Writes a file at any path, which need not be UTF-8, replacing the contents of an existing one in place.
@discardableResult
public func writeFile(_ path: LocalPath, _ bytes: some Sequence<UInt8>) throws -> LocalPath {
  let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
  let descriptor = withCPath(path.bytes) { open($0, flags, 0o600) }
  guard descriptor >= 0 else { throw SystemError(number: errno) }
  defer { close(descriptor) }
  try writeAll(Array(bytes), to: descriptor)
  return path
}

/// Writes all the bytes to a descriptor.
public func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws {
  var done = 0
  while done < bytes.count {
    let count = bytes.withUnsafeBytes { buffer in
      write(descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done)
    }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { throw SystemError(number: errno) }
    done += count
  }
}

/// Calls a C function with a path.
public func withCPath<Result>(
  _ path: [UInt8], _ body: (UnsafePointer<CChar>) throws -> Result
) rethrows -> Result {
  let terminated = path.map(CChar.init(bitPattern:)) + [0]
  return try terminated.withUnsafeBufferPointer { buffer in
    guard let start = buffer.baseAddress else { preconditionFailure("a C string ends with a NUL") }
    return try body(start)
  }
}

/// Removes a file, or a directory and its contents, whatever bytes their names have.
private func removeTree(_ path: [UInt8]) {
  if withCPath(path, { unlink($0) }) == 0 { return }
  if let directory = withCPath(path, { opendir($0) }) {
    while let entry = readdir(directory) {
      // An entry is only as long as its name: a copy of the complete field would read after its end.
      guard let start = entry.pointer(to: \.d_name) else { continue }
      let text = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
      let name = UnsafeRawBufferPointer(start: text, count: strlen(text)).map(\.self)
      if name == [0x2E] || name == [0x2E, 0x2E] { continue }
      removeTree(path + [UInt8(ascii: "/")] + name)
    }
    closedir(directory)
  }
  _ = withCPath(path) { rmdir($0) }
}
