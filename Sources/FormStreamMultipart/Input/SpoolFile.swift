import FormStreamPlatform

/// A temporary file without a name that streams are stored in, one after another, before they are sent.
struct SpoolFile {
  private let directory: LocalPath
  private let file: OpenedFile

  init(in directory: LocalPath) throws(MultipartError) {
    self.directory = directory
    do {
      file = OpenedFile(adopting: try openTemporaryFile(in: directory))
    } catch {
      throw Self.failure(in: directory, error)
    }
  }

  /// Stores a stream up to its end. Returns the range of the stream in the file.
  ///
  /// - Parameter noteStored: is called with the number of bytes of the stream that are stored so far.
  func append(
    _ stream: StreamReader, _ noteStored: (Int64) -> Void
  ) throws(MultipartError) -> Range<Int64> {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 4096)
    defer { buffer.deallocate() }
    let start = try status().identity.size
    var length: Int64 = 0
    while case let count = try stream.read(into: buffer), count > 0 {
      do throws(SystemError) {
        try file.descriptor.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      } catch {
        throw Self.failure(in: directory, error)
      }
      length += Int64(count)
      noteStored(length)
    }
    return start..<start + length
  }

  /// A range of the file. Nothing may be written to the file afterwards.
  func extent(_ range: Range<Int64>) throws(MultipartError) -> FileExtent {
    FileExtent(
      path: directory, followsSymlinks: false, identity: try status().identity,
      offset: range.lowerBound, length: Int64(range.count),
      storage: file.descriptor.withNumber { FileStorage(ofDescriptor: $0) },
      kept: KeptFile(file, forAllReaders: true))
  }

  private func status() throws(MultipartError) -> FileStatus {
    do {
      return try file.descriptor.status()
    } catch {
      throw Self.failure(in: directory, error)
    }
  }

  private static func failure(in directory: LocalPath, _ error: SystemError) -> MultipartError {
    let remedy =
      error.isOutOfSpace
      ? "free some space there, or set TMPDIR to a directory with more"
      : "set TMPDIR to a directory that can be written to"
    return MultipartError(
      .spoolFailed, on: directory.description,
      "The body can't be stored in a temporary file in \(directory.description.quoted) before it is sent: \(error). "
        + "Nothing was sent: \(remedy).", underlying: error)
  }
}
