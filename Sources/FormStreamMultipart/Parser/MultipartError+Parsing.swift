extension MultipartError {
  static func malformed(_ what: String, at place: Int64) -> MultipartError {
    MultipartError(
      .malformedBody, on: "the body",
      "The body is malformed at byte \(place): \(what). Send one that RFC 7578 allows.",
      offset: place)
  }

  /// - Parameter place: the first byte that is one too many, so that it is the same however the input
  ///   is cut.
  static func overLimit(
    _ what: String, at place: Int64, remedy: String = "send less, or raise the limit"
  ) -> MultipartError {
    MultipartError(
      .limitExceeded, on: "the body", "\(what), seen at byte \(place): \(remedy).", offset: place)
  }
}
