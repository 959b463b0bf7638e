import FormStreamIntake
import FormStreamPlatform

extension PartialUpload {
  /// The note that the handler is about to store the upload. It is released when it is noted what became of the upload.
  struct StoringNote {
    /// The file that takes the note back if it replaces the note, for which no room is needed; nil if the note needn't be taken back,
    /// because the file with the bytes says the same.
    let before: AtomicFile?
    /// Shows to other receivers that the file with the bytes may come back; nil if it stays where it is.
    let lock: FileLock?
  }

  /// A note that the handler is about to store the upload, which could not be taken back when the upload was not stored. It is tried
  /// again when a request needs the upload, when the store looks for old uploads, and at the end of the receiver.
  struct StaleNote {
    /// The file that takes the note back.
    let before: AtomicFile
    /// The file with the bytes. As long as it is open, no other receiver reads the note and removes the bytes.
    let body: PartialFile
  }

  /// A complete upload that is being processed.
  struct Whole {
    let file: PartialFile
    let size: Int64
    /// The digest of all bytes; nil if they must be read for that.
    let digest: PartDigest?
    let recorded: UploadState
  }

  /// Begins to process the upload, which the request has completed. Other requests wait until that is over, and this one must
  /// call ``finish(_:record:_:)``, ``reopen(_:by:)`` or ``discard(_:)``.
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
        try write(recorded)
      }
      state.length = state.offset
      state.phase = .processing
      state.owner = nil
      let digest = state.digest.take()
      state.file = nil
      return Whole(file: file, size: state.offset, digest: digest, recorded: recorded)
    }
  }

  /// Notes that the handler is about to store the upload. If this process is killed between this call and
  /// ``finish(_:record:_:)``, nobody knows what became of the upload. If it is killed before, the upload is processed again.
  ///
  /// - Parameter movesFile: whether storing moves the upload's file away. If it is still there after that, it was not stored.
  func noteStoring(_ whole: Whole, movesFile: Bool) throws -> StoringNote {
    var recorded = whole.recorded
    recorded.phase = .open
    let before = movesFile ? nil : try recorded.prepared(in: directory)
    recorded.phase = .processing(movesFile: movesFile)
    try write(recorded)
    let lock = movesFile ? try FileLock.taken(on: id.stateName, in: directory, waits: true) : nil
    return StoringNote(before: before, lock: lock)
  }

  /// Whether the bytes are still there: storing the upload may have moved them away. If that can't be known now, they may be.
  var hasBytes: Bool {
    do { return try directory.identity(of: id.bodyName) != nil } catch { return true }
  }

  /// Notes the response to the complete upload. The bytes are no longer needed.
  ///
  /// - Parameter record: the record, if the response doesn't bring it.
  func finish(_ response: Response, record: [UInt8]?, _ whole: Whole) {
    var recorded = whole.recorded
    recorded.phase = .complete(response)
    recorded.setRecord(record)
    if (try? write(recorded)) == nil {
      // There is no room for the response. This process still knows it; to a later one, the outcome is unknown.
      unwritten.withLock { $0 = recorded }
    }
    directory.remove(id.bodyName)
    let excess = change { state in
      state.phase = .complete
      state.lastChange = secondsSince1970()
      giveBack(to: 0, &state)
      return store.keepResponse(of: self, size: recorded.keptSize)
    }
    for upload in excess { store.remove(upload) }
  }

  /// Makes the upload one that can be completed again, because it could not be processed for want of room or memory.
  ///
  /// - Parameter note: what ``noteStoring(_:movesFile:)`` returned; nil if it was not called.
  func reopen(_ whole: Whole, by note: StoringNote?) {
    // The file may have got the mode of a stored file already. As long as it is open, no other receiver uses it.
    try? whole.file.makePrivate()
    // If the note can't be taken back now, it must be before anybody reads it: it says that nobody knows what became of the bytes.
    var stale: StaleNote?
    if let before = note?.before, (try? before.replace(id.stateName)) == nil {
      stale = StaleNote(before: before, body: whole.file)
    } else {
      try? whole.file.close()
    }
    change { state in
      state.staleNote = stale
      state.phase = .open
      state.lastChange = secondsSince1970()
    }
  }

  /// Removes an upload that could not be processed.
  func discard(_ whole: Whole) {
    change { end(&$0) }
    try? whole.file.close()
  }

  /// Ends the upload because its client wants that.
  ///
  /// - Throws: a refusal if another receiver is using the upload, which may be stored, or an error of the system.
  func cancel() throws {
    try changeAfterProcessing { state in
      endRequest(&state)
      if state.phase == .open { try open(&state) }
      end(&state)
    }
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
    // The files go first: if another receiver could lock them before, it would go on with the upload, or believe a note that is wrong.
    directory.remove(id.bodyName)
    directory.remove(id.stateName)
    state.staleNote = nil
    close(&state)
    giveBack(to: 0, &state)
    store.forget(self)
  }
}
