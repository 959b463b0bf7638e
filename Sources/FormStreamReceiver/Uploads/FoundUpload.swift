import FormStreamPlatform

/// What the files of an upload say.
///
/// Several receivers may have the same directory, and each may be killed at any moment. A receiver that changes an upload has locked the
/// file with its bytes, from before it reads the state until it has noted the last change. Storing may move that file away, and back
/// again if it fails. So a receiver that does this has locked the file of the state, too, until it has noted what became of the upload.
struct FoundUpload {
  /// How often the files are read if another receiver changes them meanwhile.
  private static let maximumAttempts = 10

  let recorded: UploadState
  /// The file with the bytes, which no other receiver can use now; nil if the upload is complete.
  let body: PartialFile?

  /// Returns nil if there are no files of the upload that can be trusted.
  ///
  /// - Throws: a refusal if another receiver is using the upload, or an error of the system if its files can't be read now.
  init?(_ id: UploadID, in directory: DirectoryDescriptor) throws {
    for _ in 0..<Self.maximumAttempts {
      var isInUse = false
      let body = try PartialFile(
        leftAs: id.bodyName, in: directory, isPrivatelyKept: true, isInUse: &isInUse)
      guard var recorded = try UploadState(of: id, in: directory) else { return nil }
      switch recorded.phase {
      case .complete:
        // The receiver that has completed the upload is about to remove the bytes, or was killed before it could.
        body?.remove()
        (self.recorded, self.body) = (recorded, nil)
        return
      case .open, .processing:
        // What becomes of the upload is known when the other receiver is done with it.
        if isInUse { throw Self.inUse(id, in: directory) }
      }
      switch recorded.phase {
      case .open:
        guard let body else { return nil }
        (self.recorded, self.body) = (recorded, body)
        return
      case .processing(movesFile: true):
        if let body {
          // The file would have another name if it had been stored.
          recorded.phase = .open
          (self.recorded, self.body) = (recorded, body)
          return
        }
        guard try Self.isMoved(id, in: directory) else { continue }
        (self.recorded, self.body) = (recorded, nil)
        return
      case .processing(movesFile: false), .complete:
        body?.remove()
        (self.recorded, self.body) = (recorded, nil)
        return
      }
    }
    throw Self.inUse(id, in: directory)
  }

  /// Whether the file with the bytes was moved away for good. False if the files must be read again.
  ///
  /// - Throws: a refusal if another receiver may move it back.
  private static func isMoved(_ id: UploadID, in directory: DirectoryDescriptor) throws -> Bool {
    let lock: FileLock?
    do throws(SystemError) {
      lock = try FileLock.taken(on: id.stateName, in: directory, waits: false)
    } catch  where error == .notFound {
      return false
    }
    guard let lock else { throw inUse(id, in: directory) }
    // As long as this receiver has the lock, no other one begins to store the upload.
    defer { withExtendedLifetime(lock) {} }
    guard try UploadState(of: id, in: directory)?.isMoving == true else { return false }
    return try directory.identity(of: id.bodyName) == nil
  }

  private static func inUse(_ id: UploadID, in directory: DirectoryDescriptor) -> UploadRefusal {
    let change = directory.lastChange(of: id.bodyName) ?? directory.lastChange(of: id.stateName)
    return .uploadInUse(for: change.map { secondsSince1970() - $0 } ?? 0)
  }
}
