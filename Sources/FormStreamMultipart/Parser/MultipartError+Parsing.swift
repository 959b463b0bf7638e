extension MultipartError {
  static let parserUsed = MultipartError(
    .parserUsed, on: "the parser",
    "The parser was used for another body before: make a new parser for each body.")

  static func malformed(_ what: String, at offset: Int64) -> MultipartError {
    MultipartError(
      .malformedBody, on: "the body",
      "The body is malformed at byte \(offset): \(what). Send a body as RFC 7578 defines it.",
      offset: offset)
  }

  /// - Parameters:
  ///   - offset: the offset of the first byte past the limit, so that the error does not depend on how the input is
  ///     divided.
  ///   - limit: the setting that the reader of the body may raise.
  ///   - otherwise: the other remedy.
  static func overLimit(
    _ what: String, at offset: Int64, limit: FormParser.Limits.Name,
    otherwise: String = "send less"
  ) -> MultipartError {
    MultipartError(
      .limitExceeded, on: "the body",
      "\(what), seen at byte \(offset): \(FormParser.Limits.Remedy(limit: limit))\(otherwise).",
      offset: offset)
  }
}

extension FixedWidthInteger {
  /// This number and what it counts: `1 part`, `2 parts`.
  func counting(_ thing: String) -> String { "\(self) \(thing)\(self == 1 ? "" : "s")" }
}
