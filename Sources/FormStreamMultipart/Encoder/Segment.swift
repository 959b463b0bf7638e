import FormStreamPlatform

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

  /// Whether reading the segment may take arbitrarily long. Only code that may wait reads such a segment.
  var mustBeWaitedFor: Bool {
    switch content {
    case .literal, .memory: false
    // Checking a growing file again may have to wait.
    case .file(let extent): extent.storage == .unknown || extent.growing != nil
    case .stream: true
    }
  }
}

/// A range of a file, and the identity that the file must keep.
struct FileExtent: Sendable {
  let path: LocalPath
  let followsSymlinks: Bool
  let identity: FileIdentity
  let offset: Int64
  let length: Int64
  let storage: FileStorage
  /// Nil if the file may not grow.
  var growing: GrowingFile?
  /// The hash of the bytes in the range; nil if the bytes are not compared.
  var hash: Int?
  /// The open file, kept for the first reader or for all readers.
  var kept: KeptFile?
  /// Where the file is found if it is not kept open; nil if it is opened by its path.
  var place: FilePlace?

  func open() throws(SystemError) -> OpenedFile {
    if let place { return try place.open() }
    return try OpenedFile(path, followsSymlinks: followsSymlinks)
  }
}

/// What stores a file. This decides what can delay a program that opens, reads or closes the file.
enum FileStorage: Sendable {
  case memory
  /// A disk of this machine. Only reading may wait, and the system can report whether a read would wait.
  case disk
  /// Perhaps another machine or another program, as with NFS and FUSE: every call may wait arbitrarily long.
  case unknown
}
