/// Where a part's bytes come from. A body is inert: nothing is opened until it is laid out or read.
public struct PartBody: Sendable {
  enum Kind: Sendable {
    case text(String)
    case bytes(MemoryBytes)
    case file(FileOrigin)
    case stream(StreamOrigin)
    case descriptor(DescriptorOrigin)
    case form(Form)
  }

  let kind: Kind

  /// Whether the system must be asked about it.
  var isFile: Bool {
    switch kind {
    case .file, .descriptor: true
    default: false
    }
  }

  /// The file's path, where it is one.
  var path: LocalPath? {
    if case .file(let origin) = kind { origin.path } else { nil }
  }

  /// Text, as UTF-8.
  public static func text(_ text: String) -> PartBody {
    PartBody(kind: .text(text))
  }

  /// Bytes in memory; they are kept as they are, not copied, where their collection is contiguous.
  public static func bytes<Bytes: Collection & Sendable>(_ bytes: Bytes) -> PartBody
  where Bytes.Element == UInt8 {
    PartBody(kind: .bytes(MemoryBytes(bytes)))
  }

  /// A file, or a range of one.
  ///
  /// The file is looked at when the form is laid out, and must be that same file, unchanged, until
  /// its last byte is read.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - range: which of its bytes; all where nil. A range that the file does not hold is an error.
  ///   - provenance: who named the file; see ``FileProvenance``.
  public static func file(
    _ path: LocalPath, range: FileRange? = nil, provenance: FileProvenance = .named
  ) -> PartBody {
    PartBody(
      kind: .file(
        FileOrigin(
          path: path, range: range, provenance: provenance,
          singleUse: provenance.streamsSpecialFiles ? SingleUse() : nil)))
  }

  /// A stream, made by `open` each time the body is read.
  ///
  /// - Parameters:
  ///   - length: the number of bytes that the stream will give, where it is known. It must end there:
  ///     it is asked for more, and one that gives fewer or more is an error. Where nil, the whole body
  ///     is of unknown length.
  ///   - replay: whether `open` can be called again for the same bytes.
  ///   - open: makes the source; called on the thread that reads.
  public static func stream(
    length: Int64? = nil, replay: Replay = .repeatable,
    _ open: @escaping @Sendable () throws -> any ByteSource
  ) -> PartBody {
    let singleUse = replay == .once ? SingleUse() : nil
    return PartBody(kind: .stream(StreamOrigin(length: length, singleUse: singleUse, make: open)))
  }

  /// What an open descriptor still has to give, such as standard input (0), up to its end. It can be
  /// read once, and stays open.
  public static func descriptor(_ number: Int32, length: Int64? = nil) -> PartBody {
    PartBody(
      kind: .descriptor(DescriptorOrigin(number: number, length: length, singleUse: SingleUse())))
  }

  /// A form inside the form, as `multipart/mixed` with a boundary of its own.
  public static func form(_ form: Form) -> PartBody {
    PartBody(kind: .form(form))
  }
}

/// A range of a file's bytes.
public struct FileRange: Hashable, Sendable {
  /// The first byte's place in the file.
  public let offset: Int64
  /// The number of bytes; up to the end of the file where nil.
  public let length: Int64?

  /// Names a range by its first byte and the one behind its last.
  public init(_ bytes: Range<Int64>) {
    self.init(offset: bytes.lowerBound, length: bytes.upperBound - bytes.lowerBound)
  }

  /// Names a range; whether the file holds it is found out when the form is laid out.
  public init(offset: Int64, length: Int64? = nil) {
    self.offset = offset
    self.length = length
  }
}

/// Who named a file, which decides how far its name is trusted.
public struct FileProvenance: Hashable, Sendable {
  let followsSymlinks: Bool
  let streamsSpecialFiles: Bool

  /// A person named it: links are followed, and a FIFO or device is a stream of unknown length that
  /// can be read once.
  public static let named = FileProvenance(followsSymlinks: true, streamsSpecialFiles: true)
  /// It was found in a directory: only a regular file itself will do.
  public static let found = FileProvenance(followsSymlinks: false, streamsSpecialFiles: false)
}

/// A file part as it was asked for.
struct FileOrigin: Sendable {
  let path: LocalPath
  let range: FileRange?
  let provenance: FileProvenance
  /// For a FIFO or device, where one may be named.
  let singleUse: SingleUse?
}

/// An open descriptor as a part.
struct DescriptorOrigin: Sendable {
  let number: Int32
  let length: Int64?
  let singleUse: SingleUse
}
