import FormStreamMultipart
import FormStreamPlatform

extension BatchFile {
  /// What `{index}` stands for.
  var number: Int { keptIndex ?? index }

  /// The file as a manifest has it, so that it is sent again.
  ///
  /// - Parameters:
  ///   - isDoubtful: whether the server may have accepted it.
  ///   - isChanged: whether it has changed since it was listed.
  ///   - keepsIndex: whether it keeps the index that it had in the run that did not accept it.
  func again(isDoubtful: Bool, isChanged: Bool, keepsIndex: Bool = false) -> BatchFile {
    var file = self
    if keepsIndex { file.keptIndex = number }
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
