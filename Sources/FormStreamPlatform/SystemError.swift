/// A failed system call: its error number and the system's own words for it.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error's number, as in `errno.h`.
  public let number: Int32

  /// Wraps an error number.
  public init(number: Int32) {
    self.number = number
  }

  /// The system's own words, such as "Permission denied".
  public var description: String { systemMessage(for: number) }
}
