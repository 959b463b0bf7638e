import FormStreamPlatform

/// What the files of an upload say.
///
/// Several receivers may have the same directory, and each may be killed at any moment. A receiver that changes an upload has locked the
/// file with its bytes, from before it reads the state until it has noted the last change. Storing may move that file away, and back
/// again if it fails. So a receiver that does this has locked the file of the state, too, until it has noted what became of the upload.
struct FoundUpload {
  /// How often the files are read if another receiver changes them meanwhile.
  private static let maximumAttempts = 10
  /// How often a refused lock is tried again. Another receiver may only be looking at the upload, which takes no time worth a refusal.
  private static let maximumPauses = 2
  private static let pause = Duration.milliseconds(5)

  let recorded: UploadState
  /// The file with the bytes, which no other receiver can use now; nil if the upload is complete.
  let body: PartialFile?

  /// What a look at the files has shown.
  private enum Look {
    case found(UploadState, PartialFile?)
    /// There are no files that can be trusted.
    case nothing
    /// Another receiver is using the upload.
    case inUse
    /// Another receiver has just changed the files, so they must be read again.
    case changed
  }

  /// Returns nil if there are no files of the upload that can be trusted.
  ///
  /// - Throws: a refusal if another receiver is using the upload, or an error of the system if its files can't be read now.
  init?(_ id: UploadID, in directory: DirectoryDescriptor) throws {
    var refusals = 0
    for _ in 0..<Self.maximumAttempts {
      switch try Self.look(for: id, in: directory) {
      case .found(let recorded, let body):
        (self.recorded, self.body) = (recorded, body)
        return
      case .nothing: return nil
      case .inUse:
        refusals += 1
        guard refusals <= Self.maximumPauses else { throw Self.inUse(id, in: directory) }
        AutoResetEvent().wait(atMost: Self.pause)
      case .changed: break
      }
    }
    throw Self.inUse(id, in: directory)
  }

  private static func look(for id: UploadID, in directory: DirectoryDescriptor) throws(SystemError) -> Look {
    var isInUse = false
    let body = try openBody(of: id, in: directory, isInUse: &isInUse)
    guard var recorded = try UploadState(of: id, in: directory) else { return .nothing }
    if case .complete = recorded.phase {
      // The receiver that has completed the upload is about to remove the bytes, or was killed before it could.
      body?.remove()
      return .found(recorded, nil)
    }
    // What becomes of the upload is known when the other receiver is done with it.
    if isInUse { return .inUse }
    switch recorded.phase {
    case .open: return body.map { .found(recorded, $0) } ?? .nothing
    case .processing(movesFile: true):
      guard let body else { return try lookForMoved(recorded, id, in: directory) }
      // The file would have another name if it had been stored.
      recorded.phase = .open
      return .found(recorded, body)
    case .processing(movesFile: false), .complete:
      body?.remove()
      return .found(recorded, nil)
    }
  }

  /// Looks whether the file with the bytes was moved away for good, or whether one that can't be trusted has its name. Otherwise, another
  /// receiver may move it back.
  private static func lookForMoved(
    _ recorded: UploadState, _ id: UploadID, in directory: DirectoryDescriptor
  ) throws(SystemError) -> Look {
    let lock: FileLock?
    do throws(SystemError) {
      lock = try FileLock.taken(on: id.stateName, in: directory, waits: false)
    } catch  where error == .notFound {
      return .changed
    }
    guard let lock else { return .inUse }
    // As long as this receiver has the lock, no other one begins to store the upload.
    defer { withExtendedLifetime(lock) {} }
    guard try UploadState(of: id, in: directory)?.isMoving == true else { return .changed }
    // The file may have come back before this receiver had the lock.
    var isInUse = false
    let body = try openBody(of: id, in: directory, isInUse: &isInUse)
    if isInUse { return .inUse }
    return body == nil ? .found(recorded, nil) : .changed
  }

  private static func openBody(
    of id: UploadID, in directory: DirectoryDescriptor, isInUse: inout Bool
  ) throws(SystemError) -> PartialFile? {
    try PartialFile(leftAs: id.bodyName, in: directory, isPrivatelyKept: true, isInUse: &isInUse)
  }

  private static func inUse(_ id: UploadID, in directory: DirectoryDescriptor) -> UploadRefusal {
    let change = directory.lastChange(of: id.bodyName) ?? directory.lastChange(of: id.stateName)
    return .uploadInUse(for: change.map { secondsSince1970() - $0 } ?? 0)
  }
}
