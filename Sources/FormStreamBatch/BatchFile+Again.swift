import FormStreamMultipart
import FormStreamPlatform

extension BatchFile {
  /// The file as a manifest has it, so that it is sent again.
  ///
  /// - Parameters:
  ///   - isDoubtful: whether the server may have accepted it.
  ///   - isChanged: whether it has changed since it was listed.
  func again(isDoubtful: Bool, isChanged: Bool) -> BatchFile {
    var file = self
    if isDoubtful { file.maybeDuplicate = true }
    if isChanged { file.readStatusAgain() }
    return file
  }

  /// Takes size and time from the file as it is now, if it can be found from here.
  private mutating func readStatusAgain() {
    let found: FileStatus?
    do throws(SystemError) {
      found =
        if let root {
          try FoundDirectory(root).status(of: relative, followsLinks: true)
        } else {
          try FileStatus(of: path, followsSymlinks: true)
        }
    } catch {
      return
    }
    guard let found, found.kind == .regular else { return }
    (size, modified) = (found.identity.size, found.identity.modifiedNanoseconds)
    sha256 = nil
    problem = nil
  }
}
