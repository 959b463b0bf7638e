import FormStreamDigest
import FormStreamIntake
import FormStreamPlatform

/// A resumable upload: a resource that clients ask for its offset, append to, and cancel.
///
/// At most one request at a time owns the upload. A newer request takes the upload from an older one, whose connection is cut:
/// the client has given the older request up. So an offset that was told is always the next one to be accepted.
final class PartialUpload: Sendable {
  private enum Phase {
    case open
    case processing
    case complete
    /// Removed, or its length was exceeded.
    case ended
  }

  private struct State {
    var phase = Phase.open
    var length: Int64?
    /// The bytes that have arrived. While no request has the file open, another process may change it.
    var offset: Int64 = 0
    /// The bytes claimed from the store.
    var claimed: Int64 = 0
    /// When the last byte arrived, or the upload was completed, in seconds since 1970.
    var lastChange: Int64
    var file: PartialFile?
    /// The digest of all bytes so far; nil if they must be read again.
    var digest: PartDigest?
    /// The connection of the request that owns the upload, and the request's number.
    var owner: Connection?
    var request = 0
  }

  let id: UploadID
  private let store: UploadStore
  private let directory: DirectoryDescriptor
  private let state: Guarded<State>

  /// How many bytes of an upload of unknown length are claimed at once.
  private static let claimedAtOnce: Int64 = 16 * 1024 * 1024

  /// An upload that has no files yet.
  init(
    new id: UploadID, in store: UploadStore, _ directory: DirectoryDescriptor, length: Int64?
  ) {
    (self.id, self.store, self.directory) = (id, store, directory)
    state = Guarded(State(length: length, claimed: length ?? 0, lastChange: secondsSince1970()))
  }

  /// An upload of an earlier receiver; nil if its files can't be trusted, or another receiver is using them.
  init?(found id: UploadID, in store: UploadStore, _ directory: DirectoryDescriptor) {
    guard var found = UploadState(of: id, in: directory) else { return nil }
    (self.id, self.store, self.directory) = (id, store, directory)
    var state = State(length: found.length, lastChange: 0)
    let body = try? PartialFile(leftAs: id.bodyName, in: directory)
    state.offset = (try? body?.size) ?? 0
    let name = body == nil ? id.stateName : id.bodyName
    state.lastChange = directory.lastChange(of: name) ?? 0
    if case .processing(movesFile: true) = found.phase, body != nil {
      // The file would have another name if it had been stored.
      found.phase = .open
      guard (try? found.write(as: id, in: directory)) != nil else { return nil }
    }
    switch found.phase {
    case .open:
      guard body != nil else { return nil }
      state.claimed = found.length ?? state.offset
    case .processing, .complete:
      state.phase = .complete
      state.offset = found.length ?? state.offset
      // The receiver was killed before it could do this.
      body?.remove()
    }
    self.state = Guarded(state)
  }

  var claimedBytes: Int64 { state.withLock(\.claimed) }
  var isComplete: Bool { state.withLock { $0.phase == .complete } }
  var lastChange: Int64 { state.withLock(\.lastChange) }

  /// Whether nothing has arrived for `seconds`, and no request is about to send something.
  func isRemovable(after seconds: Int64) -> Bool {
    state.withLock { state in
      state.phase == .open && state.offset == 0 && state.owner == nil
        && secondsSince1970() - state.lastChange >= seconds
    }
  }

  func isExpired(at now: Int64, age: Int64) -> Bool {
    state.withLock { state in
      state.owner == nil && state.phase != .processing && now - state.lastChange >= age
    }
  }

  /// How many seconds are left, unless bytes arrive.
  var secondsLeft: Int64 { store.settings.ageInSeconds - (secondsSince1970() - lastChange) }

  /// Makes the files of a new upload. The file of the bytes gets its name last, so each file of bytes has a state.
  func makeFiles(_ origin: UploadState) throws {
    let file = try PartialFile(creating: id.bodyName, in: directory) { _ in
      try origin.write(as: id, in: directory)
    }
    guard let file else { throw SystemError.alreadyExists }
    state.withLock { $0.file = file }
  }

  /// What the creating request was, and how far the processing is; nil if the file is gone.
  var recorded: UploadState? { UploadState(of: id, in: directory) }
}

// MARK: Requests

extension PartialUpload {
  /// The state as clients see it.
  struct Progress {
    let offset: Int64
    let length: Int64?
    let isComplete: Bool
  }

  /// Ends the request that owns the upload, and returns the upload's progress. Nothing arrives after this until the next
  /// request. If the upload is being processed, this doesn't wait.
  ///
  /// - Throws: a refusal if the upload has ended.
  func progress() throws -> Progress {
    try state.withLock { state in
      if state.phase == .open {
        endRequest(&state)
        try open(&state)
        close(&state)
      }
      guard state.phase != .ended else { throw UploadRefusal.noSuchUpload }
      return Progress(
        offset: state.offset, length: state.length, isComplete: state.phase == .complete)
    }
  }

  /// Ends the request that owns the upload, and gives the upload to another one. If the upload is being processed, waits for
  /// the end of that.
  ///
  /// - Parameters:
  ///   - offset: where the request's body begins; nil if the request creates the upload.
  ///   - length: the length of the complete upload, as the request announces it.
  ///   - digests: whether the bytes are hashed as they arrive.
  /// - Returns: the request's number; nil if the upload is complete already.
  /// - Throws: a refusal if the request doesn't fit the upload.
  func begin(
    on connection: Connection, at offset: Int64?, length: Int64?, digests: Bool
  ) throws -> Int? {
    try state.waitUntil({ $0.phase != .processing }) { state in
      if state.phase == .complete { return nil }
      guard state.phase == .open else { throw UploadRefusal.noSuchUpload }
      endRequest(&state)
      try open(&state)
      if let offset, offset != state.offset {
        let expected = state.offset
        close(&state)
        throw UploadRefusal.mismatchingOffset(expected: expected, provided: offset)
      }
      do {
        try setLength(length, &state)
      } catch {
        close(&state)
        throw error
      }
      state.owner = connection
      if digests, state.offset == 0 { state.digest = try? PartDigest() }
      return state.request
    }
  }

  /// Notes the length of the upload when it is known.
  private func setLength(_ length: Int64?, _ state: inout State) throws {
    guard let length else { return }
    if let known = state.length {
      guard known == length else { throw UploadRefusal.inconsistentLength }
      return
    }
    guard length >= state.offset else { throw UploadRefusal.inconsistentLength }
    guard store.claim(length - state.claimed) else { throw UploadRefusal.noRoomForUpload }
    state.claimed = length
    state.length = length
    guard var recorded else { throw UploadRefusal.noSuchUpload }
    recorded.length = length
    try recorded.write(as: id, in: directory)
  }

  /// Reserves room on the disk for bytes that a request has announced.
  func reserve(_ bytes: Int64, for request: Int) throws {
    try state.withLock { state in
      guard state.request == request, state.owner != nil else { return }
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
    try state.withLock { state in
      guard state.request == request, state.owner != nil, let file = state.file else { return nil }
      guard (state.length ?? limit) - state.offset >= bytes.count else {
        let refusal: UploadRefusal = state.length == nil ? .bodyTooLarge(limit) : .inconsistentLength
        end(&state)
        throw refusal
      }
      let end = state.offset + Int64(bytes.count)
      if end > state.claimed {
        let more = max(end - state.claimed, Self.claimedAtOnce)
        guard store.claim(more) else { throw UploadRefusal.noRoomForUpload }
        state.claimed += more
      }
      do {
        try file.write(bytes)
        state.offset = end
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

  /// Takes back all bytes after an offset, because their digest is not the one that was announced. The client was not told of
  /// them.
  func takeBack(to offset: Int64, for request: Int) throws {
    try state.withLock { state in
      guard state.request == request, state.owner != nil, let file = state.file else { return }
      state.digest = nil
      try file.truncate(to: offset)
      state.offset = offset
    }
  }

  /// Whether all bytes have arrived. False if the request no longer owns the upload.
  func isFull(for request: Int) -> Bool {
    state.withLock { $0.request == request && $0.owner != nil && $0.offset == $0.length }
  }

  /// The offset, if the request still owns the upload.
  func offset(for request: Int) -> Int64? {
    state.withLock { $0.request == request && $0.owner != nil ? $0.offset : nil }
  }

  /// Ends a request. What it has sent is kept.
  func release(_ request: Int) {
    state.withLock { state in
      guard state.request == request, state.owner != nil else { return }
      state.owner = nil
      state.lastChange = secondsSince1970()
      close(&state)
    }
  }

  /// Cuts the connection of the request that owns the upload.
  private func endRequest(_ state: inout State) {
    state.request += 1
    state.owner?.cut(because: .superseded)
    state.owner = nil
    close(&state)
  }

  /// Opens the file of bytes. The file decides how many bytes have arrived.
  private func open(_ state: inout State) throws {
    if state.file == nil {
      state.file = try PartialFile(leftAs: id.bodyName, in: directory)
    }
    guard let file = state.file else {
      // Somebody has removed or replaced the file, or another receiver uses it.
      throw UploadRefusal.noSuchUpload
    }
    let size = try file.size
    if size != state.offset { state.digest = nil }
    state.offset = size
  }

  /// Closes the file of bytes, and gives the room back that was reserved for it.
  private func close(_ state: inout State) {
    // An upload that waits must not keep a thread.
    do { try state.digest?.suspend() } catch { state.digest = nil }
    guard let file = state.file.take() else { return }
    try? file.truncate(to: state.offset)
    try? file.close()
  }
}

// MARK: The end

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
  /// call ``finish(_:)`` or ``reopen()``.
  ///
  /// - Returns: nil if the request no longer owns the upload.
  /// - Throws: a refusal if bytes are missing.
  func beginProcessing(for request: Int) throws -> Whole? {
    try state.withLock { state in
      guard state.request == request, state.owner != nil, let file = state.file else { return nil }
      if let length = state.length, length != state.offset { throw UploadRefusal.inconsistentLength }
      guard var recorded else { throw UploadRefusal.noSuchUpload }
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
    state.withLock { state in
      state.phase = .complete
      state.lastChange = secondsSince1970()
      giveBack(&state)
    }
  }

  /// Makes the upload one that can be completed again, because it could not be processed for want of room or memory.
  func reopen(_ whole: Whole) {
    var recorded = whole.recorded
    recorded.phase = .open
    try? recorded.write(as: id, in: directory)
    try? whole.file.close()
    state.withLock { state in
      state.phase = .open
      state.lastChange = secondsSince1970()
    }
  }

  /// Ends the upload: cuts the connection of the request that owns the upload, and refuses all further requests. Waits until the
  /// upload is not being processed.
  func end() {
    state.waitUntil({ $0.phase != .processing }) { state in
      endRequest(&state)
      end(&state)
    }
  }

  private func end(_ state: inout State) {
    state.phase = .ended
    state.owner = nil
    state.request += 1
    state.digest = nil
    close(&state)
    giveBack(&state)
    directory.remove(id.bodyName)
    directory.remove(id.stateName)
  }

  private func giveBack(_ state: inout State) {
    _ = store.claim(-state.claimed)
    state.claimed = 0
  }
}
