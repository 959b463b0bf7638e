/// Guesses the media type of a part that has a file name but no type.
///
/// It is asked while the form is laid out, since the type's text is part of the length.
public protocol MediaTypeGuessing: Sendable {
  /// The type of the part called `filename`, read from `path` where it is a file; nil for no idea.
  func mediaType(filename: String, path: LocalPath?) -> MediaType?
}

/// Guesses nothing: such parts are `application/octet-stream`.
public struct NoGuess: MediaTypeGuessing {
  /// Makes a guesser that has no idea.
  public init() {}

  /// Always nil.
  public func mediaType(filename: String, path: LocalPath?) -> MediaType? { nil }
}
