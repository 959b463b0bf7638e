/// What stands at the head of a part that was read.
public struct PartHead: Hashable, Sendable {
  /// One header line, unfolded.
  public struct Field: Hashable, Sendable {
    /// The header's name, as it was written.
    public let name: String
    /// The value's bytes, without the white space around them.
    public internal(set) var bytes: [UInt8]

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
    fields.first { $0.name.isSameHeaderName(as: name) }
  }
}

extension PartHead {
  /// Reads a header block, up to and with its empty line, and asks of it what the options ask.
  init(
    reading block: [UInt8], options: FormParser.Options
  ) throws(HeaderBlockReader.Flaw) {
    let fields = try HeaderBlockReader.fields(in: block, limit: options.limits.headersPerPart)
    let dispositions = fields.filter { $0.name.isSameHeaderName(as: "Content-Disposition") }
    let disposition = dispositions.first.flatMap {
      ContentDisposition(parsing: $0.bytes, escaping: options.escaping)
    }
    self.init(fields: fields, disposition: disposition)
    guard options.requiresNames else { return }

    let flaw: String? =
      switch (dispositions.count, disposition) {
      case (0, _): "a part has no Content-Disposition"
      case (2..., _): "a part has two Content-Dispositions"
      case (_, nil): "a part's Content-Disposition can't be read"
      case (_, let disposition?) where disposition.type != "form-data":
        "a part's Content-Disposition is not form-data"
      case (_, let disposition?) where disposition.name == nil: "a part has no name"
      default: nil
      }
    if let flaw { throw HeaderBlockReader.Flaw(place: 0, what: flaw) }
  }
}
