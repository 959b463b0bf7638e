public import Foundation

extension LocalPath {
  /// Creates the path of a file URL.
  ///
  /// - Throws: `notAFile` if it is not a file URL.
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
      "The URL \"\(url.absoluteString)\" does not name a file on this machine: use a file URL.")
  }
}

extension URL: LocalPathConvertible {
  /// The path of this file URL.
  ///
  /// - Throws: `notAFile` if it is not a file URL.
  public func localPath() throws(MultipartError) -> LocalPath { try LocalPath(self) }
}

extension PartBody {
  /// The bytes of an `InputStream`. Each time the body is read, `make` creates a stream, which is
  /// opened, read and closed.
  ///
  /// - Parameters:
  ///   - length: the number of bytes, if it is known.
  ///   - replay: whether `make` can be called again for the same bytes.
  ///   - make: creates an unopened stream; returns nil if it can't.
  public static func inputStream(
    length: Int64? = nil, replay: Replay = .repeatable,
    _ make: @escaping @Sendable () -> InputStream?
  ) -> PartBody {
    .stream(length: length, replay: replay) { try InputStreamSource(make()) }
  }
}
