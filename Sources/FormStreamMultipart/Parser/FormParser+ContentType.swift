extension FormParser {
  /// The boundary that a `Content-Type` names; nil where it is not a multipart type, or names none.
  ///
  /// Read as senders write it: quoted or not, with blanks around the equals sign, folded over lines.
  public static func boundary(inContentType value: String) -> String? {
    let unfolded = value.utf8.map { $0 == 0x0D || $0 == 0x0A ? 0x20 : $0 }
    guard let parsed = ParameterText.parse(unfolded, backslash: .quotedPairs),
      parsed.value.lowercased().hasPrefix("multipart/"), let boundary = parsed["boundary"],
      !boundary.isEmpty
    else { return nil }
    return String(decoding: boundary, as: UTF8.self)
  }

  /// A parser for a body that comes with a `Content-Type`.
  ///
  /// - Throws: `invalidBoundary` where the type is not a multipart type with a boundary.
  public convenience init(
    contentType: String, options: Options = Options()
  ) throws(MultipartError) {
    guard let boundary = Self.boundary(inContentType: contentType) else {
      throw MultipartError(
        .invalidBoundary, on: contentType,
        "The Content-Type \(contentType.quoted) names no boundary: it must be a multipart type with a "
          + "boundary parameter.")
    }
    try self.init(boundary: boundary, options: options)
  }
}
