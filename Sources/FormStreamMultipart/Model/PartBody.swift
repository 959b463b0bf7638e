/// Where the bytes of a part come from. Nothing is opened before the body is laid out or read.
public struct PartBody: Sendable {
  enum Kind: Sendable {
    case text(String)
    case bytes(MemoryBytes)
    case file(FileOrigin)
    case stream(StreamOrigin)
    case descriptor(DescriptorOrigin)
    // These cases are large and rare. They are indirect to keep the other cases small, because a form may have
    // 100,000 texts.
    indirect case pinned(PinnedFile, FileRange?)
    indirect case closed(ClosedFile)
    indirect case form(Form)
    /// The error in the arguments. Laying out the body throws it.
    indirect case invalid(MultipartError)
  }

  let kind: Kind

  /// Whether laying out the body needs system calls.
  var isFile: Bool {
    switch kind {
    case .file, .descriptor: true
    default: false
    }
  }

  /// The file's path; nil if the body is not a file with a path.
  var path: LocalPath? {
    switch kind {
    case .file(let origin): origin.path
    case .pinned(let file, _): file.path
    case .closed(let file): file.path
    default: nil
    }
  }

  /// Text, as UTF-8.
  public static func text(_ text: String) -> PartBody {
    PartBody(kind: .text(text))
  }

  /// Bytes in memory. They are not copied if their collection is contiguous.
  public static func bytes<Bytes: Collection & Sendable>(_ bytes: Bytes) -> PartBody
  where Bytes.Element == UInt8 {
    PartBody(kind: .bytes(MemoryBytes(bytes)))
  }

  /// A file, or a range of a file.
  ///
  /// The identity and the size of the file are read when the form is laid out. The file must not change until its last
  /// byte is read. If it changes, reading fails with `sourceChanged`, unless the file only grows and `growth` allows
  /// growth.
  ///
  /// - Parameters:
  ///   - path: the file: a path as text or bytes, or a file URL of Foundation. With any other URL, laying out fails
  ///     with `notAFile`.
  ///   - range: a range of its bytes; nil means all. Laying out fails if the range is not within
  ///     the file.
  ///   - growth: whether the file may grow while it is sent: `true`, `false` or ``FileGrowth/compared``.
  ///   - accepted: what may be at the path; see ``AcceptedFiles``.
  public static func file(
    _ path: some LocalPathConvertible, range: FileRange? = nil, growing growth: FileGrowth = false,
    accepting accepted: AcceptedFiles = .any
  ) -> PartBody {
    do throws(MultipartError) {
      return PartBody(
        kind: .file(
          FileOrigin(
            path: try path.localPath(), range: range, growth: growth, accepted: accepted,
            singleUse: accepted.streamsSpecialFiles ? SingleUse() : nil)))
    } catch {
      return PartBody(kind: .invalid(error))
    }
  }

  /// The same body, but its file, or the files of its form, may grow.
  package func growing(_ growth: FileGrowth) -> PartBody {
    switch kind {
    case .file(var origin):
      origin.growth = growth
      return PartBody(kind: .file(origin))
    case .form(let form): return PartBody(kind: .form(form.growing(growth)))
    default: return self
    }
  }

  /// A stream. `open` creates its source each time the body is read.
  ///
  /// - Parameters:
  ///   - length: the number of bytes, if it is known. A stream with fewer or more bytes is an
  ///     error. If nil, the length of the body is unknown.
  ///   - replay: whether `open` can be called again for the same bytes.
  ///   - open: creates the source. It is called on the thread that reads the body.
  public static func stream(
    length: Int64? = nil, replay: Replay = .repeatable,
    _ open: @escaping @Sendable () throws -> any ByteSource
  ) -> PartBody {
    let singleUse = replay == .once ? SingleUse() : nil
    return PartBody(kind: .stream(StreamOrigin(length: length, singleUse: singleUse, make: open)))
  }

  /// The rest of an open descriptor, such as standard input (0), up to its end. The body is one-shot, and the
  /// descriptor is not closed.
  public static func descriptor(_ number: Int32, length: Int64? = nil) -> PartBody {
    PartBody(
      kind: .descriptor(DescriptorOrigin(number: number, length: length, singleUse: SingleUse())))
  }

  /// A form inside the form, with the boundary of the inner form. If the inner form is form data, it is sent as
  /// `multipart/mixed`.
  public static func form(_ form: Form) -> PartBody {
    PartBody(kind: .form(form))
  }
}

/// A range of a file's bytes.
public struct FileRange: Hashable, Sendable {
  /// The offset of the first byte in the file.
  public let offset: Int64
  /// The number of bytes; nil means up to the end of the file.
  public let length: Int64?

  /// Creates a range from the offsets of its bytes.
  public init(_ bytes: Range<Int64>) {
    let (length, overflow) = bytes.upperBound.subtractingReportingOverflow(bytes.lowerBound)
    // Only a range with a negative lower bound overflows, so laying it out fails in any case.
    self.init(offset: bytes.lowerBound, length: overflow ? .max : length)
  }

  /// Creates a range. It is checked against the file when the form is laid out.
  public init(offset: Int64, length: Int64? = nil) {
    self.offset = offset
    self.length = length
  }
}

/// What may be at the path of a file.
public struct AcceptedFiles: Hashable, Sendable {
  let followsSymlinks: Bool
  let streamsSpecialFiles: Bool

  /// Whatever can be read, for a path that a person named: links are followed, and a FIFO or device
  /// is a one-shot stream of unknown length.
  public static let any = AcceptedFiles(followsSymlinks: true, streamsSpecialFiles: true)
  /// Only a regular file, not a link to a file, for a path that was found in a directory.
  public static let regularOnly = AcceptedFiles(followsSymlinks: false, streamsSpecialFiles: false)
}

/// The file of a part, before it is looked up.
struct FileOrigin: Sendable {
  let path: LocalPath
  let range: FileRange?
  var growth: FileGrowth
  let accepted: AcceptedFiles
  /// The right to read a FIFO or device; nil if FIFOs and devices are not accepted.
  let singleUse: SingleUse?
}

/// An open descriptor as the source of a part.
struct DescriptorOrigin: Sendable {
  let number: Int32
  let length: Int64?
  let singleUse: SingleUse
}
