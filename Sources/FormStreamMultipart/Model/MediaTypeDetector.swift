/// Detects the media types of parts that have a file name and no type.
///
/// The detector is called while the form is laid out, because the length of the body includes the text of the type.
public protocol MediaTypeDetector: Sendable {
  /// The type of a part; nil if it is unknown.
  func mediaType(of part: UntypedPart) -> MediaType?
}

/// A part that has a file name and no type, as ``MediaTypeDetector`` sees it.
public struct UntypedPart {
  /// The file name of the part.
  public let filename: String
  /// The path of the file; nil if the contents are not a file.
  public let path: LocalPath?
  /// Whether the contents can be read again. If not, as for a pipe, ``firstBytes(upTo:)`` takes bytes out of the source. Then
  /// only the layout has these bytes: another reader of the source doesn't get them.
  public var isReplayable: Bool { !content.isOneShot }
  let content: ContentPreview

  /// The first bytes of the contents, at most `count` and at most 1 MiB. They are read at the first call.
  ///
  /// A pipe is read until there are 4 KiB, or to its end. The bytes are kept and sent later. If reading fails, the
  /// result is empty and laying out the form throws the error.
  public func firstBytes(upTo count: Int) -> [UInt8] {
    content.firstBytes(upTo: count)
  }
}

/// Detects no types: a part with a file name and no type is `application/octet-stream`, whatever the name.
public struct NoDetection: MediaTypeDetector {
  /// Creates the detector.
  public init() {}

  /// Always nil.
  public func mediaType(of part: UntypedPart) -> MediaType? { nil }
}
