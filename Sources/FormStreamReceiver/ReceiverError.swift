import FormStreamIntake
public import FormStreamPlatform

/// A failure to start a receiver, or to make a response.
public struct ReceiverError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. The set is open.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code's text.
    public let rawValue: String

    /// Creates a code from its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The address is invalid, in use, or not an address of this machine.
    public static let addressUnusable = Code(rawValue: "address-unusable")
    /// The certificate or its key can't be read or used.
    public static let certificateUnusable = Code(rawValue: "certificate-unusable")
    /// The token is empty.
    public static let tokenUnusable = Code(rawValue: "token-unusable")
    /// The path is not a directory, or can't be opened or made.
    public static let directoryUnusable = Code(rawValue: StorageError.Code.directoryUnusable.rawValue)
    /// The directory for resumable uploads can't be opened or made, or is not safe.
    public static let uploadsUnusable = Code(rawValue: "uploads-unusable")
    /// The response of a handler has a header, a status or a body that can't be sent.
    public static let invalidResponse = Code(rawValue: "invalid-response")
    /// The system has no thread or memory left.
    public static let startFailed = Code(rawValue: "start-failed")
  }

  /// The kind of failure.
  public let code: Code
  /// The address, path or status that the failure is about.
  public let subject: String
  /// The failed system call's error, if there was one.
  public let underlying: SystemError?
  /// A full sentence: what failed, on what, and what to do.
  public let description: String

  init(
    _ code: Code, on subject: String, _ description: String, underlying: SystemError? = nil
  ) {
    self.code = code
    self.subject = subject
    self.underlying = underlying
    self.description = description
  }
}
