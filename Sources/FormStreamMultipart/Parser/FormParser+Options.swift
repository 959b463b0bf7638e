import FormStreamPlatform

extension FormParser {
  /// How strictly a body is read, and its limits.
  public struct Options: Hashable, Sendable {
    /// Whether each part must have a `Content-Disposition: form-data` with a name (RFC 7578 §4.2).
    /// A parser that is created with a `Content-Type` requires it only of form data.
    public var requiresNames = true
    /// Whether a line may end with an LF alone, as in some bodies written by hand.
    public var allowsBareLF = false
    /// The escaping profile of the sender, if it is known; see ``ContentDisposition``.
    public var escaping: EscapingProfile?
    /// How large a body and its parts may be.
    public var limits = Limits()

    /// The options for a form: names are required, and lines end with CRLF.
    public init() {}
  }

  /// How large a body and its parts may be. If a body exceeds a limit, parsing throws `limitExceeded` immediately.
  public struct Limits: Hashable, Sendable {
    /// The maximum number of bytes in the boundary (RFC 2046 §5.1.1 allows 70).
    public var boundary = Boundary.maximumLength
    /// The maximum number of bytes in the header block of a part, which is kept in memory. It is also the maximum for
    /// the white space after a delimiter.
    public var headerBlock = Part.maximumHeaderBlockSize
    /// The maximum number of headers in a part.
    public var headersPerPart = Part.maximumHeaderCount
    /// The maximum number of bytes in the header blocks of all parts together. Callers often keep all headers.
    public var allHeaders: Int64 = 16 * 1024 * 1024
    /// The maximum number of parts.
    public var parts = 10_000
    /// The maximum number of bytes before the first delimiter. They are skipped.
    public var preamble: Int64 = 64 * 1024
    /// The maximum number of bytes after the last delimiter. They are skipped.
    public var epilogue: Int64 = 64 * 1024
    /// The maximum number of bytes in one part; nil means no limit.
    public var partBytes: Int64?
    /// The maximum number of bytes in the body; nil means no limit.
    public var totalBytes: Int64?

    /// The default limits.
    public init() {}

    /// The names of the limits in messages.
    package enum Name: String, MessageSetting {
      case boundary = "FormParser.Limits.boundary"
      case headerBlock = "FormParser.Limits.headerBlock"
      case headersPerPart = "FormParser.Limits.headersPerPart"
      case allHeaders = "FormParser.Limits.allHeaders"
      case parts = "FormParser.Limits.parts"
      case preamble = "FormParser.Limits.preamble"
      case epilogue = "FormParser.Limits.epilogue"
      case partBytes = "FormParser.Limits.partBytes"
      case totalBytes = "FormParser.Limits.totalBytes"

      package var description: String { rawValue }
    }

    /// The beginning of the remedy in a message about a body over a limit. The library names the property, and the
    /// command names the flag. A receiver tells senders only that there is a limit.
    package struct Remedy: MessageSetting {
      package let limit: Name

      package init(limit: Name) { self.limit = limit }

      package var description: String { "raise \(limit.rawValue), or " }
    }
  }
}
