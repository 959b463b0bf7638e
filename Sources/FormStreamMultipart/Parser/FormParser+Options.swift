extension FormParser {
  /// What a body is read as.
  public struct Options: Hashable, Sendable {
    /// Whether each part must be a field of a form: `Content-Disposition: form-data` with a name. A
    /// `multipart/mixed` body need not have any.
    public var requiresNames = true
    /// Whether a line may end with LF alone, as some hand-made bodies have it.
    public var allowsBareLF = false
    /// The escaping profile that the sender is known to use; see ``ContentDisposition``.
    public var escaping: EscapingProfile?
    /// How much a body may ask for.
    public var limits = Limits()

    /// A form, with lines as they should be.
    public init() {}
  }

  /// How much a body may ask of its parser. What goes past a limit is `limitExceeded`, at once.
  public struct Limits: Hashable, Sendable {
    /// The most bytes in the boundary (RFC 2046 §5.1.1 allows 70).
    public var boundary = Boundary.maximumLength
    /// The most bytes in a part's header block, which is held in memory; and of white space behind a
    /// delimiter.
    public var headerBlock = PartHeaders.maximumBlockSize
    /// The most headers in a part.
    public var headersPerPart = PartHeaders.maximumCount
    /// The most bytes in the header blocks of all parts together, which a reader may want to keep.
    public var allHeaders: Int64 = 16 * 1024 * 1024
    /// The most parts.
    public var parts = 10_000
    /// The most bytes before the first delimiter, which are passed over.
    public var preamble: Int64 = 64 * 1024
    /// The most bytes behind the last delimiter, which are passed over.
    public var epilogue: Int64 = 64 * 1024
    /// The most bytes in one part; no limit where nil.
    public var partBytes: Int64?
    /// The most bytes in the whole body; no limit where nil.
    public var totalBytes: Int64?

    /// The limits that are used unless others are given.
    public init() {}
  }
}
