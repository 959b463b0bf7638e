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

  /// - Parameter offset: the first byte past the limit, so that it does not depend on how the input
  ///   is divided.
  static func overLimit(
    _ what: String, at offset: Int64, remedy: String = "send less, or raise the limit"
  ) -> MultipartError {
    MultipartError(
      .limitExceeded, on: "the body", "\(what), seen at byte \(offset): \(remedy).", offset: offset)
  }
}
