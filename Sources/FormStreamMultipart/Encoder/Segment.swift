/// A stretch of the body that comes from one place.
struct Segment: Sendable {
  enum Content: Sendable {
    /// Delimiters, headers and short text: a range of the layout's own bytes.
    case literal(Range<Int>)
    case memory(MemoryBytes)
    case file(FileExtent)
    case stream(StreamOrigin)
  }

  let content: Content
  /// The number of bytes; nil where it can't be known.
  let length: Int64?
  /// The name of the part that the segment belongs to, for messages; empty for what is literal.
  let name: String

  var isOneShot: Bool {
    if case .stream(let origin) = content { origin.isOneShot } else { false }
  }
}

/// A stretch of a file, and the identity that the file must keep.
struct FileExtent: Sendable {
  let path: LocalPath
  let followsSymlinks: Bool
  let identity: FileIdentity
  let offset: Int64
  let length: Int64
  /// The file as it was opened to be looked at, for the first reader.
  var kept: KeptFile?
}
