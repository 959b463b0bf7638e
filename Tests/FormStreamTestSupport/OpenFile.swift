import Glibc
public import FormStreamMultipart

/// A file that a test has opened itself, to see whether it stays open.
public final class OpenFile {
  /// The descriptor's number.
  public let descriptor: Int32

  /// Opens a file for reading.
  public init(_ path: LocalPath) throws {
    descriptor = withCPath(path.bytes) { open($0, O_RDONLY | O_CLOEXEC) }
    if descriptor < 0 { throw SystemError(number: errno) }
  }

  deinit { close(descriptor) }

  /// Whether the descriptor is still open.
  public var isOpen: Bool { fcntl(descriptor, F_GETFD) >= 0 }

  /// The offset of the next read.
  public var offset: Int { Int(lseek(descriptor, 0, Int32(SEEK_CUR))) }

  /// Moves the offset to the file's start.
  public func rewind() { lseek(descriptor, 0, Int32(SEEK_SET)) }
}
