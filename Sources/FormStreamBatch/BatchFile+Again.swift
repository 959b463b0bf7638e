import FormStreamMultipart
import FormStreamPlatform

extension BatchFile {
  /// The number that `{index}` stands for.
  var number: Int { keptIndex ?? index }

  /// The file as it is written to a manifest of files to send again.
  ///
  /// - Parameters:
  ///   - isDoubtful: whether the server may have accepted the file.
  ///   - isChanged: whether the file has changed since it was listed.
  ///   - keepsIndex: whether the file keeps its index from the run in which it was not accepted.
  func again(isDoubtful: Bool, isChanged: Bool, keepsIndex: Bool = false) -> BatchFile {
    var file = self
    if keepsIndex { file.keptIndex = number }
    if isDoubtful { file.maybeDuplicate = true }
    if isChanged { file.readStatusAgain() }
    return file
  }

  /// The problems that don't prevent sending a file: by now, or on this machine, the problem may be gone.
  static let passingProblems: [BatchError.Code] = [
    .inputMissing, .inputUnreadable, .tooManyOpenFiles,
  ]

  /// The file of a manifest as it is now, if a problem prevented it from being sent when the manifest was made.
  var lookedForAgain: BatchFile {
    guard let problem, Self.passingProblems.contains(problem.code) else { return self }
    var file = again(isDoubtful: false, isChanged: true)
    file.isFoundLater = true
    return file
  }

  /// Replaces the size and the time with the file's current size and time. Does nothing if the file can't be found.
  private mutating func readStatusAgain() {
    guard let found = currentStatus, found.kind == .regular else { return }
    (size, modified) = (found.identity.size, found.identity.modifiedNanoseconds)
    sha256 = nil
    (problem, isDirectory) = (nil, false)
  }
}
