import FormStreamMultipart
import FormStreamPlatform

extension BatchFile {
  /// Whether a regular file with the size and the time of this value is at its path now. False if the listing has neither size nor
  /// time.
  ///
  /// - Parameter identity: the identity that the file must have, too; nil if any will do.
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
