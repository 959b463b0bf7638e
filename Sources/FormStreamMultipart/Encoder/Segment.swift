/// A range of the body with one source.
struct Segment: Sendable {
  enum Content: Sendable {
    /// Delimiters, headers and short text: a range of the layout's own bytes.
    case literal(Range<Int>)
    case memory(MemoryBytes)
    case file(FileExtent)
    case stream(StreamOrigin)
  }

  let content: Content
  /// The number of bytes; nil if it is not known.
  let length: Int64?
  /// The name of the part, for messages; empty for literal bytes.
  let name: String

  var isOneShot: Bool {
    if case .stream(let origin) = content { origin.isOneShot } else { false }
  }
}

/// A range of a file, and the identity that the file must keep.
struct FileExtent: Sendable {
  let path: LocalPath
  let followsSymlinks: Bool
  let identity: FileIdentity
  let offset: Int64
  let length: Int64
  /// The open file, kept for the first reader.
  var kept: KeptFile?
}
