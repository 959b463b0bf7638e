/// Guesses the media type of a part that has a file name but no type.
///
/// It is asked while the form is laid out, since the type's text is part of the length.
public protocol MediaTypeGuessing: Sendable {
  /// The type of a part; nil for no idea.
  func mediaType(of part: UntypedPart) -> MediaType?
}

/// A part that has a file name but no type, as a guesser sees it.
public struct UntypedPart {
  /// The part's file name.
  public let filename: String
  /// The path of its file, where it is one.
  public let path: LocalPath?
  /// Whether the bytes can be read again: looking at those of a pipe takes them out of it, and what was
  /// laid out is then all that has them.
  public var isReplayable: Bool { !content.isOneShot }
  let content: ContentPreview

  /// The first bytes of what will be sent, fewer where there are no more. They are read when they are first
  /// asked for: of a file, or of the range of it; of a pipe, too, which then waits until there are some
  /// 4 KiB or its end is reached, and loses none of them. Where they can't be read there are none, and the
  /// form can't be laid out.
  public func firstBytes(upTo count: Int) -> [UInt8] {
    content.firstBytes(upTo: count)
  }
}

/// Guesses nothing: such parts are `application/octet-stream`.
public struct NoGuess: MediaTypeGuessing {
  /// Makes a guesser that has no idea.
  public init() {}

  /// Always nil.
  public func mediaType(of part: UntypedPart) -> MediaType? { nil }
}
