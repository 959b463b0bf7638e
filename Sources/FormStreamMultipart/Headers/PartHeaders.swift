/// The headers that a part bears beside the derived ones, in order.
///
/// `Content-Disposition`, `Content-Type` and `Content-Length` can't be set here: the first two are made
/// from the part's name, file name and type, and parts never carry the third.
public struct PartHeaders: Hashable, Sendable {
  /// One header line.
  public struct Field: Hashable, Sendable {
    /// The header's name, as it is written.
    public let name: String
    /// The header's value.
    public let value: String
  }

  private var fields: [Field] = []

  /// The most bytes that a part's header block may have, derived headers included. Receivers stop at
  /// 16 KiB or before, Django at 1 KiB; a longer name is a value in the wrong place.
  public static let maximumBlockSize = 16 * 1024
  /// The most headers that a part may bear, derived ones included.
  public static let maximumCount = 32

  /// No extra headers.
  public init() {}

  /// Adds a header behind the others.
  ///
  /// - Throws: `invalidHeader` where the name is no token (RFC 9110 §5.1), the value has a control
  ///   character, or the header is a derived one; `headersTooLarge` past `maximumCount`.
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
        "The value of the header \(name.quoted) has a control character in it: take out line breaks "
          + "and NULs.")
    }
    // Two places are for Content-Disposition and Content-Type.
    guard fields.count < Self.maximumCount - 2 else {
      throw MultipartError(
        .headersTooLarge, on: name,
        "The header \(name.quoted) is one too many: a part bears at most \(Self.maximumCount).")
    }
    fields.append(Field(name: name, value: value))
  }

  private static let derived = [
    "content-disposition": "it is made from the part's name and file name; set those",
    "content-type": "it is made from the part's type; set that",
    "content-length": "parts carry no length of their own",
  ]
}

extension PartHeaders: RandomAccessCollection {
  /// The first header's place.
  public var startIndex: Int { fields.startIndex }
  /// The place behind the last header.
  public var endIndex: Int { fields.endIndex }
  /// The header at a place.
  public subscript(position: Int) -> Field { fields[position] }
}
