/// A value that names a file on this machine: a ``LocalPath``, a text, or, with the module `FormStream`, a file URL of
/// Foundation.
public protocol LocalPathConvertible: Sendable {
  /// The path of the file. Does not look up the file.
  ///
  /// - Throws: `notAFile` if this can't name a file on this machine, such as a URL with another scheme.
  func localPath() throws(MultipartError) -> LocalPath
}

extension LocalPath: LocalPathConvertible {
  /// This path.
  public func localPath() -> LocalPath { self }
}

extension String: LocalPathConvertible {
  /// The path with the UTF-8 bytes of this text.
  public func localPath() -> LocalPath { LocalPath(self) }
}
