public import FormStreamMultipart

/// Why a receiver could not be started.
public struct ReceiverError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. The set is open.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code's text.
    public let rawValue: String

    /// Takes a code by its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The address is none that can be listened at, or is taken.
    public static let addressUnusable = Code(rawValue: "address-unusable")
    /// The certificate or its key can't be read or used.
    public static let certificateUnusable = Code(rawValue: "certificate-unusable")
    /// The token is empty.
    public static let tokenUnusable = Code(rawValue: "token-unusable")
    /// The directory is not one, or can't be opened or made.
    public static let directoryUnusable = Code(rawValue: "directory-unusable")
    /// The system has no thread or memory left.
    public static let startFailed = Code(rawValue: "start-failed")
  }

  /// The kind of failure.
  public let code: Code
  /// The address or path that the failure is about.
  public let subject: String
  /// What the system said, where it was asked.
  public let underlying: SystemError?
  /// A full sentence, and the remedy.
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
