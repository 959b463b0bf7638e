/// The headers of a parsed part.
public struct PartHead: Hashable, Sendable {
  /// The headers in order, each on one line.
  public let headers: HTTPHeaders
  /// The parsed `Content-Disposition` header; nil if there is none, or it is malformed.
  public let disposition: ContentDisposition?

  /// The name of the field.
  public var name: String? { disposition?.name }
  /// The file name; a part that has one is a file part.
  public var filename: String? { disposition?.filename }
  /// The media type, as it was written; nil if there is none.
  public var contentType: String? { self["Content-Type"] }

  /// The value of the first header of this name, ignoring case; nil if there is none.
  public subscript(name: String) -> String? { headers[name] }
}

extension PartHead {
  /// Parses a header block, including its empty line, and checks what the options require.
  init(
    reading block: [UInt8], options: FormParser.Options
  ) throws(HeaderBlockReader.Flaw) {
    let headers = try HeaderBlockReader.headers(in: block, limit: options.limits.headersPerPart)
    let dispositions = headers.filter { $0.name.isSameHeaderName(as: "Content-Disposition") }
    let disposition = dispositions.first.flatMap {
      ContentDisposition(parsing: $0.bytes, escaping: options.escaping)
    }
    self.init(headers: headers, disposition: disposition)
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
    if let flaw { throw HeaderBlockReader.Flaw(offset: 0, what: flaw) }
  }
}
