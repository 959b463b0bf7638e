import FormStreamMultipart
import FormStreamPlatform

extension BatchFile {
  /// Whether a regular file with the size and the time of this value, and with an identity, is at its path now. False if it is not known that they are
  /// those of the listing.
  ///
  /// - Parameter identity: the file that was read; nil if it is not known.
  package func isOnDisk(as identity: FileIdentity? = nil) -> Bool {
    guard problem == nil, !isFoundLater, let found = currentStatus, found.kind == .regular else { return false }
    if let identity, identity != found.identity { return false }
    return (size, modified) == (found.identity.size, found.identity.modifiedNanoseconds)
  }

  /// The status of what is at the path now; nil if nothing can be found there.
  var currentStatus: FileStatus? {
    if let root { return try? FoundDirectory(root).status(of: relative, followsLinks: true) }
    return try? FileStatus(of: path, followsSymlinks: true)
  }
}
