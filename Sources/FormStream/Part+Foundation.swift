public import Foundation

extension LocalPath {
  /// The path of a file URL.
  ///
  /// - Throws: `notAFile` where the URL is not one of a file.
  public init(_ url: URL) throws(MultipartError) {
    guard url.isFileURL else { throw .notAFileURL(url) }
    let bytes: [UInt8] = url.withUnsafeFileSystemRepresentation { name in
      guard let name else { return [] }
      return UnsafeBufferPointer(start: name, count: strlen(name)).map(UInt8.init(bitPattern:))
    }
    guard !bytes.isEmpty else { throw .notAFileURL(url) }
    self.init(bytes: bytes)
  }
}

extension MultipartError {
  fileprivate static func notAFileURL(_ url: URL) -> MultipartError {
    MultipartError(
      .notAFile, on: url.absoluteString,
      "The URL \"\(url.absoluteString)\" does not name a file on this machine: give a file URL.")
  }
}

extension Part {
  /// A file, called by its own name unless `filename` says otherwise.
  ///
  /// - Throws: `notAFile` where the URL is not one of a file.
  public static func file(
    _ name: String, _ url: URL, filename: String? = nil, type: MediaType? = nil,
    range: FileRange? = nil, provenance: FileProvenance = .named
  ) throws(MultipartError) -> Part {
    .file(
      name, try LocalPath(url), filename: filename, type: type, range: range,
      provenance: provenance)
  }
}

extension PartBody {
  /// What an `InputStream` gives; `make` is called each time the body is read, and the stream that it
  /// makes is opened, read and closed here.
  ///
  /// - Parameters:
  ///   - length: the number of bytes that the stream will give, where it is known.
  ///   - replay: whether `make` gives the same bytes each time.
  ///   - make: makes an unopened stream; nil where it can't.
  public static func inputStream(
    length: Int64? = nil, replay: Replay = .repeatable,
    _ make: @escaping @Sendable () -> InputStream?
  ) -> PartBody {
    .stream(length: length, replay: replay) { try InputStreamSource(make()) }
  }
}
