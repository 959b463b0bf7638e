extension FormParser {
  /// How much a body may ask of its parser. What goes past a limit is `limitExceeded`, at once.
  public struct Limits: Hashable, Sendable {
    /// The most bytes in the boundary (RFC 2046 §5.1.1 allows 70).
    public var boundary = Boundary.maximumLength
    /// The most bytes in a part's header block, which is held in memory; and of white space behind a
    /// delimiter.
    public var headerBlock = PartHeaders.maximumBlockSize
    /// The most headers in a part.
    public var headersPerPart = PartHeaders.maximumCount
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
