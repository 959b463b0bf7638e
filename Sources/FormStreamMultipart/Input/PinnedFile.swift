import FormStreamPlatform

/// A regular file that was opened before its form is laid out, and stays open until the last reader of the form is
/// released.
///
/// Its path is not looked up again. If the path later names another file, a link or a FIFO, this other file is never
/// read. Readers check the file's identity as with any other file.
package struct PinnedFile: Sendable {
  /// The path, for messages and rules about names.
  package let path: LocalPath
  /// The identity, which must not change until the last byte is read.
  package let identity: FileIdentity
  let file: OpenedFile
  let storage: FileStorage

  /// Pins an open file, and becomes the owner of the descriptor, even if this throws.
  ///
  /// - Throws: `notAFile` if it is not a regular file; `sourceChanged` if it is written to all the time.
  package init(adopting descriptor: Int32, path: LocalPath) throws(MultipartError) {
    self.path = path
    file = OpenedFile(adopting: descriptor)
    let status: FileStatus?
    do {
      status = try FileStatus(settling: file.descriptor)
    } catch {
      throw MultipartError(
        .inputUnreadable, on: path.description,
        "The file \(path.description.quoted) can't be read: \(error).", underlying: error)
    }
    guard let status else {
      throw MultipartError(
        .sourceChanged, on: path.description,
        "The file \(path.description.quoted) is being written to all the time: send it when nothing writes to it.",
        change: .rewritten)
    }
    guard status.kind == .regular else {
      throw MultipartError(
        .notAFile, on: path.description,
        "The path \(path.description.quoted) names \(status.kind.words), and only regular files are sent."
      )
    }
    identity = status.identity
    storage = FileStorage(ofDescriptor: descriptor)
  }

  /// The contents of the file, or of a range of it, as the body of a part or request.
  package func body(_ range: FileRange? = nil) -> PartBody {
    PartBody(kind: .pinned(self, range))
  }

  /// The same file without the descriptor. The descriptor is closed when this value is released.
  ///
  /// - Parameters:
  ///   - path: the path at which the file was found.
  ///   - root: the directory that `path` is relative to, or nil. The path must not lead out of the directory.
  ///   - followsLinks: whether `path` may name a link if there is no root.
  package func closed(
    _ path: LocalPath, below root: LocalPath?, followsLinks: Bool
  ) -> ClosedFile {
    ClosedFile(
      path: self.path, identity: identity, storage: storage,
      place: FilePlace(path: path, root: root, followsLinks: followsLinks))
  }

  /// Calls `use` with the file's descriptor. `use` must not close or keep the descriptor.
  package func withDescriptor<Result, Failure: Error>(
    _ use: (Int32) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try file.descriptor.withNumber(use)
  }

  /// Reads the complete file in pieces, and checks its identity before it hands over each piece.
  package func readAll(
    in buffer: UnsafeMutableRawBufferPointer, _ use: (UnsafeRawBufferPointer) -> Void
  ) throws(MultipartError) {
    let reader = try FileReader(try extent(nil, part: path.description), part: "", opened: file)
    while true {
      let count = try reader.read(into: buffer)
      if count == 0 { return }
      use(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  func extent(_ range: FileRange?, part: String) throws(MultipartError) -> FileExtent {
    var extent = try FileExtent(
      of: path, identity, range, followsSymlinks: false, storage: storage, part: part)
    extent.kept = KeptFile(file, forAllReaders: true)
    return extent
  }
}

extension FileStatus.Kind {
  /// The kind of file, in words.
  fileprivate var words: String {
    switch self {
    case .regular: "a regular file"
    case .directory: "a directory"
    case .symlink: "a symbolic link"
    case .pipe: "a FIFO"
    case .socket: "a socket"
    case .device: "a device"
    }
  }
}
