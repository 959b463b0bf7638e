extension MultipartError {
  static func malformed(_ what: String, at place: Int64) -> MultipartError {
    MultipartError(
      .malformedBody, on: "the body",
      "The body is malformed at byte \(place): \(what). Send a body as RFC 7578 defines it.",
      offset: place)
  }

  /// - Parameter place: the first byte past the limit, so that it does not depend on how the input
  ///   is divided.
  static func overLimit(
    _ what: String, at place: Int64, remedy: String = "send less, or raise the limit"
  ) -> MultipartError {
    MultipartError(
      .limitExceeded, on: "the body", "\(what), seen at byte \(place): \(remedy).", offset: place)
  }
}
