import FormStreamIntake
import FormStreamPlatform

extension PartialUpload {
  /// A complete upload that is being processed.
  struct Whole {
    let file: PartialFile
    let size: Int64
    /// The digest of all bytes; nil if they must be read for that.
    let digest: PartDigest?
    let recorded: UploadState
  }

  /// Begins to process the upload, which the request has completed. Other requests wait until that is over, and this one must
  /// call ``finish(_:_:)``, ``reopen(_:)`` or ``discard(_:)``.
  ///
  /// - Returns: nil if the request no longer owns the upload.
  /// - Throws: a refusal if bytes are missing.
  func beginProcessing(for request: Int) throws -> Whole? {
    try change { state in
      guard state.isOwned(by: request), let file = state.file else { return nil }
      if let length = state.length, length != state.offset { throw UploadRefusal.inconsistentLength }
      guard var recorded = try recorded else { throw UploadRefusal.noSuchUpload }
      if recorded.length != state.offset {
        recorded.length = state.offset
        try recorded.write(as: id, in: directory)
      }
      state.length = state.offset
      state.phase = .processing
      state.owner = nil
      let digest = state.digest.take()
      state.file = nil
      return Whole(file: file, size: state.offset, digest: digest, recorded: recorded)
    }
  }

  /// Notes that the handler is about to store the upload. If this process is killed between this call and ``finish(_:_:)``,
  /// nobody knows what became of the upload. If it is killed before, the upload is processed again.
  ///
  /// - Parameter movesFile: whether storing moves the upload's file away.
  func noteStoring(_ whole: Whole, movesFile: Bool) throws {
    var recorded = whole.recorded
    recorded.phase = .processing(movesFile: movesFile)
    try recorded.write(as: id, in: directory)
  }

  /// Notes the response to the complete upload. The bytes are no longer needed.
  func finish(_ response: Response, _ whole: Whole) {
    var recorded = whole.recorded
    recorded.phase = .complete(response)
    // If there is no room for the response, the file says that the outcome is unknown.
    try? recorded.write(as: id, in: directory)
    directory.remove(id.bodyName)
    change { state in
      state.phase = .complete
      state.lastChange = secondsSince1970()
      giveBack(to: 0, &state)
    }
  }

  /// Makes the upload one that can be completed again, because it could not be processed for want of room or memory.
  func reopen(_ whole: Whole) {
    var recorded = whole.recorded
    recorded.phase = .open
    try? recorded.write(as: id, in: directory)
    try? whole.file.close()
    change { state in
      state.phase = .open
      state.lastChange = secondsSince1970()
    }
  }

  /// Removes an upload that could not be processed.
  func discard(_ whole: Whole) {
    try? whole.file.close()
    change { end(&$0) }
  }

  /// Ends the upload: cuts the connection of the request that owns the upload, and refuses all further requests. Waits until the
  /// upload is not being processed.
  func end() {
    changeAfterProcessing { state in
      endRequest(&state)
      end(&state)
    }
  }

  func end(_ state: inout State) {
    state.phase = .ended
    state.owner = nil
    state.request += 1
    state.digest = nil
    close(&state)
    giveBack(to: 0, &state)
    directory.remove(id.bodyName)
    directory.remove(id.stateName)
    store.forget(self)
  }
}
