package import FormStreamPlatform

/// An error in creating, laying out, reading or parsing a form: what failed, its subject, and what to do about it.
public struct MultipartError: Error, Sendable {
  /// The kind of failure. The set is open: later versions add to it.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as written in records, such as `source-changed`.
    public let rawValue: String

    /// Wraps the text of a code.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The boundary is empty, too long, or has a character that RFC 2046 §5.1.1 does not allow.
    public static let invalidBoundary = Code(rawValue: "invalid-boundary")
    /// The delimiter occurs inside a part.
    public static let boundaryCollision = Code(rawValue: "boundary-collision")
    /// The escaping profile can't write the name of a part.
    public static let invalidName = Code(rawValue: "invalid-name")
    /// The escaping profile can't write the file name of a part.
    public static let invalidFilename = Code(rawValue: "invalid-filename")
    /// A media type does not have the form `type/subtype; name=value`.
    public static let invalidMediaType = Code(rawValue: "invalid-media-type")
    /// An extra header has an invalid name or value, or the encoder derives this header itself.
    public static let invalidHeader = Code(rawValue: "invalid-header")
    /// A value can't be encoded as JSON or as fields.
    public static let notEncodable = Code(rawValue: "not-encodable")
    /// A part has too many headers, or they are too long.
    public static let headersTooLarge = Code(rawValue: "headers-too-large")
    /// Forms are nested deeper than `Form.maximumNesting`.
    public static let nestedTooDeep = Code(rawValue: "nested-too-deep")
    /// The file does not exist.
    public static let inputMissing = Code(rawValue: "input-missing")
    /// The file exists but can't be read.
    public static let inputUnreadable = Code(rawValue: "input-unreadable")
    /// The path names a directory. Or it names a FIFO, device, socket or link, and only a file is accepted.
    public static let notAFile = Code(rawValue: "not-a-file")
    /// The range is not within the file.
    public static let rangeOutsideFile = Code(rawValue: "range-outside-file")
    /// The length of the body does not fit into 64 bits.
    public static let bodyTooLarge = Code(rawValue: "body-too-large")
    /// A file changed after the form was laid out, or a stream has another length when it is read again;
    /// `MultipartError.change` says how.
    public static let sourceChanged = Code(rawValue: "source-changed")
    /// Reading a file failed.
    public static let readFailed = Code(rawValue: "read-failed")
    /// A stream failed, or violated the contract of ``ByteSource``.
    public static let streamFailed = Code(rawValue: "stream-failed")
    /// A stream had fewer bytes than its length.
    public static let streamTooShort = Code(rawValue: "stream-too-short")
    /// A stream had more bytes than its length.
    public static let streamTooLong = Code(rawValue: "stream-too-long")
    /// A stream could not be stored in a temporary file before it is sent.
    public static let spoolFailed = Code(rawValue: "spool-failed")
    /// A body could not be written to a file.
    public static let writeFailed = Code(rawValue: "write-failed")
    /// A one-shot stream would have to be read a second time.
    public static let notReplayable = Code(rawValue: "not-replayable")
    /// The offset is outside the body.
    public static let offsetOutsideBody = Code(rawValue: "offset-outside-body")
    /// The body or a part of it exceeds a limit of the caller.
    public static let limitExceeded = Code(rawValue: "limit-exceeded")
    /// The parsed body violates RFC 2046 or RFC 7578; `MultipartError.offset` says where.
    public static let malformedBody = Code(rawValue: "malformed-body")
    /// The parsed body ended before its last delimiter.
    public static let bodyIncomplete = Code(rawValue: "body-incomplete")
    /// The parser was used for another body before.
    public static let parserUsed = Code(rawValue: "parser-used")
    /// The reader or stream was closed, or not opened yet.
    public static let notOpen = Code(rawValue: "not-open")
  }

  /// The kind of failure.
  public let code: Code
  /// What the failure is about: a path, the name of a part, a boundary.
  public let subject: String
  /// The path of the file that could not be read, byte for byte; nil if the error is not about a file.
  package let file: LocalPath?
  /// How the source changed, if `code` is `sourceChanged`.
  public let change: SourceChange?
  /// The offset of the failure in the parsed body; nil if the failure has no offset.
  public let offset: Int64?
  /// The error that caused this one, if any.
  public let underlying: (any Error)?
  /// A sentence that says what failed and what to do.
  public var description: String { message.description }
  /// The message that `description` has as text. The message keeps settings as values, so that a program can replace their
  /// names, for example with flags.
  package let message: Message

  package init(
    _ code: Code, on subject: String, _ message: Message, file: LocalPath? = nil,
    change: SourceChange? = nil, offset: Int64? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.subject = subject
    self.message = message
    self.file = file
    self.change = change
    self.offset = offset
    self.underlying = underlying
  }
}

extension MultipartError: CustomStringConvertible {}

/// The words " of part" and the name, for a message. Empty if the part has no name, as in a body that is not a form.
func ofPart(_ name: String) -> String {
  name.isEmpty ? "" : " of part \(name.quoted)"
}
