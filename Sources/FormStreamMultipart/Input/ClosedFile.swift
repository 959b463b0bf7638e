import FormStreamPlatform

/// A regular file that was opened and closed before its form is laid out, and is opened again when the form is read. It
/// is for forms with more files than can be open at the same time.
///
/// The file is found again below the same directory. If its path then names another file, or the file has changed, no
/// byte is read.
package struct ClosedFile: Sendable {
  /// The path, for messages and rules about names.
  package let path: LocalPath
  /// The identity, which must not change until the last byte is read.
  package let identity: FileIdentity
  let storage: FileStorage
  let place: FilePlace

  /// The bytes of the file as the body of a part.
  package var body: PartBody { PartBody(kind: .closed(self)) }

  func extent(part: String) throws(MultipartError) -> FileExtent {
    var extent = try FileExtent(
      of: path, identity, nil, followsSymlinks: true, storage: storage, part: part)
    extent.place = place
    return extent
  }
}

/// Where a file is found.
struct FilePlace: Sendable {
  let path: LocalPath
  /// The directory that the path is relative to; nil if there is none. The path must not lead out of the directory.
  let root: LocalPath?
  /// Whether the path may name a link if there is no root.
  let followsLinks: Bool

  func open() throws(SystemError) -> OpenedFile {
    OpenedFile(adopting: try openForSending(path, below: root, followsLinks: followsLinks))
  }
}
