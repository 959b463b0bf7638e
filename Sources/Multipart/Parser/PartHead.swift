/// What stands at the head of a part that was read.
public struct PartHead: Hashable, Sendable {
  /// One header line, unfolded.
  public struct Field: Hashable, Sendable {
    /// The header's name, as it was written.
    public let name: String
    /// The value's bytes, without the white space around them.
    public let bytes: [UInt8]

    /// The value as text, repaired where it is not UTF-8.
    public var value: String { String(decoding: bytes, as: UTF8.self) }
  }

  /// The header lines in order.
  public let fields: [Field]
  /// The `Content-Disposition` header taken apart; nil where there is none, or it can't be.
  public let disposition: ContentDisposition?

  /// The field's name.
  public var name: String? { disposition?.name }
  /// The file name; a part that has one is a file.
  public var filename: String? { disposition?.filename }
  /// The media type as it was written; nil where there is none.
  public var contentType: String? { self["Content-Type"]?.value }

  /// The first header of a name, in whatever case its letters are.
  public subscript(name: String) -> Field? {
    let wanted = name.lowercased()
    return fields.first { $0.name.lowercased() == wanted }
  }
}
