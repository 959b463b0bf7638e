/// A failed system call: its error number and the system's own words for it.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number as in `errno.h`.
  public let errno: Int32

  /// Wraps an error number.
  public init(errno: Int32) {
    self.errno = errno
  }

  /// The system's own words, such as "Permission denied".
  public var description: String { systemMessage(for: errno) }
}
