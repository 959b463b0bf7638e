/// The headers of a part in addition to the derived ones, in order.
///
/// `Content-Disposition`, `Content-Type` and `Content-Length` can't be set here: the first two are
/// derived from the name, file name and type of the part, and parts have no `Content-Length`.
public struct PartHeaders: Hashable, Sendable {
  /// One header line.
  public struct Field: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value.
    public let value: String
  }

  private var fields: [Field] = []

  /// The maximum number of bytes in the header block of a part, including derived headers.
  /// Receivers accept 16 KiB or less (Django: 1 KiB).
  public static let maximumBlockSize = 16 * 1024
  /// The maximum number of headers of a part, including derived ones.
  public static let maximumCount = 32

  /// No extra headers.
  public init() {}

  /// Adds a header at the end.
  ///
  /// - Throws: `invalidHeader` if the name is not a token (RFC 9110 §5.1), the value contains a
  ///   control character, or the header is a derived one; `headersTooLarge` if there are more than
  ///   `maximumCount`.
  public mutating func append(name: String, value: String) throws(MultipartError) {
    guard HTTPSyntax.isToken(name.utf8) else {
      throw MultipartError(
        .invalidHeader, on: name,
        "The header name \(name.quoted) is not valid: use letters, digits and hyphens only.")
    }
    if let remedy = Self.derived[name.lowercased()] {
      throw MultipartError(
        .invalidHeader, on: name,
        "The header \(name.quoted) can't be set by hand: \(remedy).")
    }
    guard HTTPSyntax.isFieldValue(value.utf8) else {
      throw MultipartError(
        .invalidHeader, on: name,
        "The value of the header \(name.quoted) contains a control character: remove line breaks and "
          + "NULs.")
    }
    // Two are reserved for Content-Disposition and Content-Type.
    guard fields.count < Self.maximumCount - 2 else {
      throw MultipartError(
        .headersTooLarge, on: name,
        "The header \(name.quoted) is one too many: a part has at most \(Self.maximumCount).")
    }
    fields.append(Field(name: name, value: value))
  }

  private static let derived = [
    "content-disposition": "it is derived from the name and file name of the part; set those",
    "content-type": "it is derived from the type of the part; set that",
    "content-length": "parts have no Content-Length",
  ]
}

extension PartHeaders: RandomAccessCollection {
  /// The index of the first header.
  public var startIndex: Int { fields.startIndex }
  /// The index after the last header.
  public var endIndex: Int { fields.endIndex }
  /// The header at an index.
  public subscript(position: Int) -> Field { fields[position] }
}
