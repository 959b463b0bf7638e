import FormStreamMultipart

/// An error of detecting a media type: what failed, on what, and what to do about it.
public struct MediaTypesError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. The set is open: later versions add to it.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as written in records.
    public let rawValue: String

    /// Wraps the text of a code.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// A code that `MultipartError` has, too.
    private init(_ code: MultipartError.Code) { rawValue = code.rawValue }

    /// libmagic's database does not exist, can't be read, or is not valid.
    public static let databaseUnusable = Code(rawValue: "database-unusable")
    /// An override does not have the form `GLOB=TYPE`.
    public static let invalidOverride = Code(rawValue: "invalid-override")
    /// The file does not exist.
    public static let inputMissing = Code(.inputMissing)
    /// The file exists but can't be read.
    public static let inputUnreadable = Code(.inputUnreadable)
  }

  /// The kind of failure.
  public let code: Code
  /// What the failure is about: a path, an override.
  public let subject: String
  /// The error that caused this one, if any.
  public let underlying: (any Error)?
  /// A sentence that says what failed and what to do.
  public let description: String

  init(
    _ code: Code, on subject: String, _ description: String, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.subject = subject
    self.description = description
    self.underlying = underlying
  }
}
