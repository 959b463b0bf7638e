extension HTTPHeaders {
  /// Checks the headers that the caller gave a part.
  ///
  /// - Throws: `invalidHeader`; `headersTooLarge` if there are more than ``Part/maximumHeaderCount``.
  package func checkOfPart() throws(MultipartError) {
    for field in fields {
      guard let flaw = field.flaw(derived: Self.derivedOfPart) else { continue }
      throw MultipartError(.invalidHeader, on: field.name, "\(flaw)")
    }
    // Two of the headers are reserved for Content-Disposition and Content-Type.
    guard let last = fields.last, fields.count > Part.maximumHeaderCount - 2 else { return }
    throw MultipartError(
      .headersTooLarge, on: last.name,
      "The header \(last.name.quoted) is one too many: a part has at most \(Part.maximumHeaderCount)."
    )
  }

  /// The headers of a part that the caller can't set, and why.
  private static let derivedOfPart = [
    (
      name: "Content-Disposition",
      reason: "it is derived from the name and file name of the part; set those"
    ),
    (name: "Content-Type", reason: "it is derived from the type of the part; set that"),
    (name: "Content-Length", reason: "parts have no Content-Length"),
  ]
}
