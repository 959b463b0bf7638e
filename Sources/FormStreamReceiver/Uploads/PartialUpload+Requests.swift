import FormStreamIntake
import FormStreamPlatform

extension PartialUpload {
  /// How many bytes of an upload of unknown length are claimed at once, if there is room for them.
  private static let claimedAtOnce: Int64 = 16 * 1024 * 1024

  /// The state as clients see it.
  struct Progress {
    let offset: Int64
    let length: Int64?
    let isComplete: Bool
  }

  /// Ends the request that owns the upload, and returns the upload's progress. Nothing arrives after this until the next
  /// request.
  ///
  /// - Parameter waits: whether to wait if the upload is being processed.
  /// - Throws: a refusal if the upload has ended.
  func progress(afterProcessing waits: Bool = false) throws -> Progress {
    waits ? try changeAfterProcessing(progress) : try change(progress)
  }

  private func progress(_ state: inout State) throws -> Progress {
    state.lastUse = secondsSince1970()
    if state.phase == .open {
      endRequest(&state)
      try open(&state)
      close(&state)
    }
    guard state.phase != .ended else { throw UploadRefusal.noSuchUpload }
    return Progress(
      offset: state.offset, length: state.length, isComplete: state.phase == .complete)
  }

  /// Ends the request that owns the upload, and gives the upload to another one. If the upload is being processed, waits for
  /// the end of that.
  ///
  /// - Parameters:
  ///   - offset: where the request's body begins; nil if the request creates the upload.
  ///   - length: the length of the complete upload, as the request announces it.
  ///   - digests: whether the bytes are hashed as they arrive.
  ///   - checks: whether the bytes count only after ``accept(for:)``.
  /// - Returns: the request's number; nil if the upload is complete already.
  /// - Throws: a refusal if the request doesn't fit the upload.
  func begin(
    on connection: Connection, at offset: Int64?, length: Int64?, digests: Bool, checks: Bool
  ) throws -> Int? {
    try changeAfterProcessing { state in
      if state.phase == .complete { return nil }
      guard state.phase == .open else { throw UploadRefusal.noSuchUpload }
      endRequest(&state)
      try open(&state)
      if state.phase == .complete { return nil }
      do {
        if let offset, offset != state.offset {
          throw UploadRefusal.mismatchingOffset(expected: state.offset, provided: offset)
        }
        try note(length: length, checks: checks, &state)
      } catch {
        close(&state)
        throw error
      }
      state.owner = connection
      if digests, state.offset == 0 { state.digest = try? PartDigest() }
      return state.request
    }
  }

  /// Notes the length of the upload when it is known, and whether the next bytes must be compared with a digest.
  private func note(length: Int64?, checks: Bool, _ state: inout State) throws {
    if let length {
      guard length == state.length ?? length, length >= state.offset else {
        throw UploadRefusal.inconsistentLength
      }
    }
    let length = state.length ?? length
    try claim(length ?? state.offset, &state)
    let uncheckedFrom = checks ? state.offset : nil
    guard length != state.length || uncheckedFrom != state.uncheckedFrom else { return }
    try record(&state) { ($0.length, $0.uncheckedFrom) = (length, uncheckedFrom) }
    (state.length, state.uncheckedFrom) = (length, uncheckedFrom)
  }

  private func record(_ state: inout State, _ change: (inout UploadState) -> Void) throws {
    guard var recorded = try recorded else { throw UploadRefusal.noSuchUpload }
    change(&recorded)
    try write(recorded)
  }

  /// Reserves room on the disk for bytes that a request has announced.
  func reserve(_ bytes: Int64, for request: Int) throws {
    try change { state in
      guard state.isOwned(by: request) else { return }
      state.isReserved = true
      try state.file?.reserve(state.offset + bytes)
    }
  }

  /// Appends bytes. Returns the new offset; nil if the request no longer owns the upload.
  ///
  /// - Parameter limit: the most bytes that the upload may have if its length is not known.
  /// - Throws: a refusal if the upload has too many bytes, which ends it, or an error of the system.
  func append(
    _ bytes: UnsafeRawBufferPointer, for request: Int, limit: Int64
  ) throws -> Int64? {
    try change { state in
      guard state.isOwned(by: request), let file = state.file else { return nil }
      guard (state.length ?? limit) - state.offset >= bytes.count else {
        let refusal: UploadRefusal = state.length == nil ? .bodyTooLarge(limit) : .inconsistentLength
        end(&state)
        throw refusal
      }
      let end = state.offset + Int64(bytes.count)
      if end > state.claimed {
        let ahead = max(end, state.claimed + Self.claimedAtOnce)
        if (try? claim(ahead, &state)) == nil { try claim(end, &state) }
      }
      do {
        try file.write(bytes)
        state.offset = end
        state.lastChange = secondsSince1970()
        try state.digest?.update(bytes)
      } catch {
        // A part of the bytes may be in the file.
        state.digest = nil
        state.offset = (try? file.size) ?? state.offset
        throw error
      }
      return end
    }
  }

  /// Makes the bytes of a request count, because they have the digest that was announced. Returns false if the request no longer
  /// owns the upload.
  func accept(for request: Int) throws -> Bool {
    try change { state in
      guard state.isOwned(by: request) else { return false }
      try record(&state) { $0.uncheckedFrom = nil }
      state.uncheckedFrom = nil
      return true
    }
  }

  /// Whether all bytes have arrived. False if the request no longer owns the upload.
  func isFull(for request: Int) -> Bool {
    change { $0.isOwned(by: request) && $0.offset == $0.length }
  }

  /// The offset, if the request still owns the upload.
  func offset(for request: Int) -> Int64? {
    change { $0.isOwned(by: request) ? $0.offset : nil }
  }

  /// Ends a request. What it has sent is kept, unless it has not been compared with its digest.
  func release(_ request: Int) {
    change { state in
      guard state.isOwned(by: request) else { return }
      state.owner = nil
      state.lastChange = secondsSince1970()
      close(&state)
    }
  }

  /// Cuts the connection of the request that owns the upload.
  func endRequest(_ state: inout State) {
    state.request += 1
    if let owner = state.owner {
      owner.cut(because: .superseded)
      state.owner = nil
      state.lastChange = secondsSince1970()
    }
    close(&state)
  }

  /// Opens the file of bytes. The files decide how many bytes have arrived, and what else is known: another receiver may have changed
  /// them. If it has completed the upload, the upload is complete after this.
  func open(_ state: inout State) throws {
    try takeBackNote(&state)
    guard let found = try FoundUpload(id, in: directory) else {
      // Somebody has removed the files.
      if try directory.identity(of: id.bodyName) == nil { end(&state) }
      throw UploadRefusal.noSuchUpload
    }
    guard let file = found.body else { return noteOutcome(found.recorded, &state) }
    var size = try file.size
    if let start = found.recorded.uncheckedFrom, size > start {
      try file.truncate(to: start)
      size = start
    }
    // "If the server loses any part of the state, it MUST deactivate the upload resource": draft, §4.1.1.
    guard size >= state.offset else {
      end(&state)
      throw UploadRefusal.noSuchUpload
    }
    if size != state.offset { state.digest = nil }
    (state.length, state.uncheckedFrom) = (found.recorded.length, found.recorded.uncheckedFrom)
    (state.offset, state.file) = (size, file)
  }

  /// Takes the note back that the upload is being stored, if that has failed when it was not stored. Nobody else goes on with an upload
  /// whose bytes are locked, so nothing newer is replaced.
  func takeBackNote(_ state: inout State) throws(SystemError) {
    guard let note = state.staleNote else { return }
    try note.before.replace(id.stateName)
    try? note.body.close()
    state.staleNote = nil
  }

  /// Closes the file of bytes, and gives the room back that was reserved for it.
  func close(_ state: inout State) {
    // An upload that waits must not keep a thread.
    do { try state.digest?.suspend() } catch { state.digest = nil }
    if let start = state.uncheckedFrom, state.offset > start {
      (state.offset, state.digest, state.isReserved) = (start, nil, true)
    }
    if state.length == nil { giveBack(to: state.offset, &state) }
    guard let file = state.file.take() else { return }
    // Otherwise the time of the file stays that of its last byte.
    if state.isReserved, (try? file.truncate(to: state.offset)) != nil { state.isReserved = false }
    try? file.close()
  }
}

extension PartialUpload.State {
  func isOwned(by request: Int) -> Bool { self.request == request && owner != nil }
}
