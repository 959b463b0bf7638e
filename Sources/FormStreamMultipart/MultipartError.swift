/// What went wrong while a form was made, measured or read, on what, and what to do about it.
public struct MultipartError: Error, Sendable {
  /// The kind of failure. The set is open: later versions add to it.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as it stands in records, such as `source-changed`.
    public let rawValue: String

    /// Takes a code by its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The boundary is empty, too long, or has a character that RFC 2046 does not allow.
    public static let invalidBoundary = Code(rawValue: "invalid-boundary")
    /// The boundary's delimiter occurs inside a part.
    public static let boundaryCollision = Code(rawValue: "boundary-collision")
    /// A part's name can't be written by the chosen escaping profile.
    public static let invalidName = Code(rawValue: "invalid-name")
    /// A part's file name can't be written by the chosen escaping profile.
    public static let invalidFilename = Code(rawValue: "invalid-filename")
    /// A media type is not of the form `type/subtype; name=value`.
    public static let invalidMediaType = Code(rawValue: "invalid-media-type")
    /// An extra header has a bad name or value, or is one that is derived.
    public static let invalidHeader = Code(rawValue: "invalid-header")
    /// A part's headers are too many or too long.
    public static let headersTooLarge = Code(rawValue: "headers-too-large")
    /// Forms are nested deeper than `Form.maximumNesting`.
    public static let nestedTooDeep = Code(rawValue: "nested-too-deep")
    /// There is no such file.
    public static let inputMissing = Code(rawValue: "input-missing")
    /// The file is there but can't be looked at or read.
    public static let inputUnreadable = Code(rawValue: "input-unreadable")
    /// The path names a directory, or a FIFO, device, socket or link where only a file will do.
    public static let notAFile = Code(rawValue: "not-a-file")
    /// The range that was asked for does not lie within the file.
    public static let rangeOutsideFile = Code(rawValue: "range-outside-file")
    /// The body would be longer than a 64-bit length can say.
    public static let bodyTooLarge = Code(rawValue: "body-too-large")
    /// A file is no longer the one that was laid out; `MultipartError.change` says how.
    public static let sourceChanged = Code(rawValue: "source-changed")
    /// Reading a file failed.
    public static let readFailed = Code(rawValue: "read-failed")
    /// A stream failed, or broke its contract.
    public static let streamFailed = Code(rawValue: "stream-failed")
    /// A stream ended before it had given what it promised.
    public static let streamTooShort = Code(rawValue: "stream-too-short")
    /// A stream had more to give than it promised.
    public static let streamTooLong = Code(rawValue: "stream-too-long")
    /// A stream that can be read once was asked for again.
    public static let notReplayable = Code(rawValue: "not-replayable")
    /// The offset lies outside the body.
    public static let offsetOutsideBody = Code(rawValue: "offset-outside-body")
    /// The body is larger than the caller would hold.
    public static let limitExceeded = Code(rawValue: "limit-exceeded")
    /// The body that was read is not one that RFC 2046 and RFC 7578 allow; `MultipartError.offset` says
    /// where.
    public static let malformedBody = Code(rawValue: "malformed-body")
    /// The body that was read ended before its last delimiter.
    public static let bodyIncomplete = Code(rawValue: "body-incomplete")
    /// The reader or stream was closed, or not yet opened.
    public static let notOpen = Code(rawValue: "not-open")
  }

  /// The kind of failure.
  public let code: Code
  /// The thing that the failure is about: a path, a part's name, a boundary.
  public let subject: String
  /// How the source changed, where `code` is `sourceChanged`.
  public let change: SourceChange?
  /// The place in a body that was read, where the failure has one.
  public let offset: Int64?
  /// The cause, where another error is one.
  public let underlying: (any Error)?
  /// A full sentence, and the remedy.
  public let description: String

  package init(
    _ code: Code, on subject: String, _ description: String,
    change: SourceChange? = nil, offset: Int64? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.subject = subject
    self.description = description
    self.change = change
    self.offset = offset
    self.underlying = underlying
  }
}

extension MultipartError: CustomStringConvertible {}
