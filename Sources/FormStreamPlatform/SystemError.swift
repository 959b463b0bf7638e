/// The error of a failed system call.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error number, as in `errno.h`.
  public let number: Int32

  /// Wraps an error number.
  public init(number: Int32) {
    self.number = number
  }

  /// The system's message, such as "Permission denied".
  public var description: String { systemMessage(for: number) }
}
