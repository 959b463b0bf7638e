extension FormParser {
  /// The boundary in a `Content-Type`; nil if it is not a multipart type or has no boundary.
  ///
  /// Accepts what senders write: with or without quotes, with blanks around the equals sign, folded
  /// into several lines.
  public static func boundary(inContentType value: String) -> String? {
    let unfolded = value.utf8.map { $0 == 0x0D || $0 == 0x0A ? 0x20 : $0 }
    guard let parsed = ParameterText.parse(unfolded, backslash: .quotedPairs),
      parsed.value.utf8.startsIgnoringCase(with: "multipart/"), let boundary = parsed["boundary"],
      !boundary.isEmpty
    else { return nil }
    return String(decoding: boundary, as: UTF8.self)
  }

  /// Whether a `Content-Type` is `multipart/form-data`.
  package static func isFormData(_ contentType: String) -> Bool {
    let type = contentType.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > 0x20 }
    let formData = "multipart/form-data".utf8
    return type.count == formData.count && type.startsIgnoringCase(with: "multipart/form-data")
  }

  /// Creates a parser for a body with this `Content-Type`. Names are required only of form data:
  /// parts of `multipart/mixed`, `multipart/related` and others need none.
  ///
  /// - Throws: `invalidBoundary` if the type is not a multipart type with a valid boundary.
  public convenience init(
    contentType: String, options: Options = Options()
  ) throws(MultipartError) {
    guard let boundary = Self.boundary(inContentType: contentType) else {
      throw MultipartError(
        .invalidBoundary, on: contentType,
        "The Content-Type \(contentType.quoted) has no boundary: it must be a multipart type with a "
          + "boundary parameter.")
    }
    var options = options
    if !Self.isFormData(contentType) { options.requiresNames = false }
    try self.init(boundary: boundary, options: options)
  }
}
