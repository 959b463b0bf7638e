/// What went wrong while a media type was looked for, on what, and what to do about it.
public struct MediaTypesError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. The set is open: later versions add to it.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as it stands in records.
    public let rawValue: String

    /// Takes a code by its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// libmagic's database is not there, can't be read, or is not one that it takes.
    public static let databaseUnusable = Code(rawValue: "database-unusable")
    /// An override is not of the form `GLOB=TYPE`.
    public static let invalidOverride = Code(rawValue: "invalid-override")
    /// There is no such file.
    public static let inputMissing = Code(rawValue: "input-missing")
    /// The file is there but can't be read.
    public static let inputUnreadable = Code(rawValue: "input-unreadable")
  }

  /// The kind of failure.
  public let code: Code
  /// The thing that the failure is about: a path, an override.
  public let subject: String
  /// The cause, where another error is one.
  public let underlying: (any Error)?
  /// A full sentence, and the remedy.
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
