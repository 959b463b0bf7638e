extension HTTPHeaders {
  /// Checks the headers that the caller gave a part.
  ///
  /// - Throws: `invalidHeader`; `headersTooLarge` if there are more than ``Part/maximumHeaderCount``.
  package func checkOfPart() throws(MultipartError) {
    for field in fields { try checkOfPart(field) }
    // Two are reserved for Content-Disposition and Content-Type.
    guard let last = fields.last, fields.count > Part.maximumHeaderCount - 2 else { return }
    throw MultipartError(
      .headersTooLarge, on: last.name,
      "The header \(last.name.quoted) is one too many: a part has at most \(Part.maximumHeaderCount)."
    )
  }

  private func checkOfPart(_ field: Field) throws(MultipartError) {
    let name = field.name
    guard HTTPSyntax.isToken(name.utf8) else {
      throw MultipartError(
        .invalidHeader, on: name,
        "The header name \(name.quoted) is not valid: use letters, digits and hyphens only.")
    }
    if let (_, remedy) = Self.derivedOfPart.first(where: { name.isSameHeaderName(as: $0.name) }) {
      throw MultipartError(
        .invalidHeader, on: name,
        "The header \(name.quoted) can't be set by hand: \(remedy).")
    }
    guard HTTPSyntax.isFieldValue(field.bytes) else {
      throw MultipartError(
        .invalidHeader, on: name,
        "The value of the header \(name.quoted) contains a control character: remove line breaks and "
          + "NULs.")
    }
  }

  private static let derivedOfPart = [
    (
      name: "Content-Disposition",
      remedy: "it is derived from the name and file name of the part; set those"
    ),
    (name: "Content-Type", remedy: "it is derived from the type of the part; set that"),
    (name: "Content-Length", remedy: "parts have no Content-Length"),
  ]
}
