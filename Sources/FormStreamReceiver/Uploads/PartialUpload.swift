import FormStreamDigest
import FormStreamIntake
import FormStreamPlatform

/// A resumable upload: a resource that clients ask for its offset, append to, and cancel.
///
/// At most one request at a time owns the upload. A newer request takes the upload from an older one, whose connection is cut:
/// the client has given the older request up. So an offset that was told is always the next one to be accepted.
final class PartialUpload: Sendable {
  enum Phase {
    case open
    case processing
    case complete
    /// Removed, or its length was exceeded.
    case ended
  }

  struct State {
    var phase = Phase.open
    var length: Int64?
    /// The bytes that have arrived. While no request has the file open, another process may change it.
    var offset: Int64 = 0
    /// Where the bytes begin whose announced digest is not compared yet; nil if there are none. The upload's ``UploadState`` has
    /// the same number, so that a receiver that is killed does not keep these bytes.
    var uncheckedFrom: Int64?
    /// The bytes claimed from the store.
    var claimed: Int64 = 0
    /// When the last byte arrived, or the upload was completed, in seconds since 1970.
    var lastChange: Int64 { didSet { lastUse = max(lastUse, lastChange) } }
    /// When a request last used the upload, or asked for its offset.
    var lastUse: Int64 = .min
    var file: PartialFile?
    /// Whether the file may have more room on the disk than bytes.
    var isReserved = false
    /// The digest of all bytes so far; nil if they must be read again.
    var digest: PartDigest?
    /// A note that the upload is being stored, although it is not; nil if there is none.
    var staleNote: StaleNote?
    /// The connection of the request that owns the upload, and the request's number.
    var owner: Connection?
    var request = 0
  }

  /// What the store asks of all its uploads. It is kept beside the state, because the state is locked while bytes are written, and
  /// a slow disk must not hold up the requests about other uploads.
  private struct Standing {
    let phase: Phase
    let lastChange: Int64
    let lastUse: Int64
    let isOwned: Bool
    let size: Int64
    /// Whether more room is claimed than there are bytes.
    let claimsMore: Bool
    let hasStaleNote: Bool

    init(_ state: State) {
      (phase, lastChange, isOwned) = (state.phase, state.lastChange, state.owner != nil)
      (size, claimsMore) = (state.offset, state.claimed > state.offset)
      (lastUse, hasStaleNote) = (max(state.lastUse, lastChange), state.staleNote != nil)
    }

    /// Whether no request has used an upload that is not complete for that many seconds.
    func isIdle(for seconds: Int64, ifEmpty: Bool = false) -> Bool {
      phase == .open && !isOwned && (size == 0 || !ifEmpty) && secondsSince1970() - lastUse >= seconds
    }

    func isExpired(after age: Int64) -> Bool {
      phase != .processing && !isOwned && secondsSince1970() - lastChange >= age
    }
  }

  let id: UploadID
  let store: UploadStore
  let directory: DirectoryDescriptor
  /// Whose share of the store the upload belongs to.
  let client: String
  /// The state with the response to the complete upload, if there was no room to write it; nil if it is written.
  let unwritten = Guarded<UploadState?>(nil)
  private let state: Guarded<State>
  private let standing: Guarded<Standing>

  /// An upload that has no files yet.
  init(
    new id: UploadID, in store: UploadStore, _ directory: DirectoryDescriptor, length: Int64?,
    of client: String
  ) {
    (self.id, self.store, self.directory, self.client) = (id, store, directory, client)
    let state = State(length: length, claimed: length ?? 0, lastChange: secondsSince1970())
    (self.state, standing) = (Guarded(state), Guarded(Standing(state)))
  }

  /// An upload of an earlier receiver, or of another one; nil if there are no files of it that can be trusted.
  ///
  /// - Throws: a refusal if another receiver is using the upload, or an error of the system if its files can't be read now.
  init?(found id: UploadID, in store: UploadStore, _ directory: DirectoryDescriptor) throws {
    guard let found = try FoundUpload(id, in: directory) else { return nil }
    let recorded = found.recorded
    (self.id, self.store, self.directory, client) = (id, store, directory, recorded.client)
    var state = State(length: recorded.length, lastChange: 0)
    if let body = found.body {
      state.offset = try body.size
      state.uncheckedFrom = recorded.uncheckedFrom
      if let start = recorded.uncheckedFrom { state.offset = min(state.offset, start) }
      state.claimed = recorded.length ?? state.offset
      // A receiver that was killed could not give back the room that it had reserved.
      if (try? body.releaseUnusedRoom()) == nil { state.isReserved = true }
    } else {
      (state.phase, state.offset) = (.complete, recorded.length ?? 0)
    }
    let name = found.body == nil ? id.stateName : id.bodyName
    // A clock may have been wrong: a file from the future is not kept longer than others.
    state.lastChange = min(directory.lastChange(of: name) ?? 0, secondsSince1970())
    (self.state, standing) = (Guarded(state), Guarded(Standing(state)))
  }

  /// Reads or changes the state.
  func change<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try state.withLock { state throws(Failure) in
      defer { publish(state) }
      return try body(&state)
    }
  }

  /// Reads or changes the state when the upload is not being processed.
  func changeAfterProcessing<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try state.waitUntil({ $0.phase != .processing }) { state throws(Failure) in
      defer { publish(state) }
      return try body(&state)
    }
  }

  private func publish(_ state: State) { standing.withLock { $0 = Standing(state) } }

  /// What the creating request was, and how far the processing is; nil if the file is gone.
  var recorded: UploadState? {
    get throws(SystemError) {
      if let unwritten = unwritten.withLock(\.self) { return unwritten }
      return try UploadState(of: id, in: directory)
    }
  }

  /// Writes the file of the state.
  func write(_ recorded: UploadState) throws(SystemError) {
    try recorded.write(as: id, in: directory)
    unwritten.withLock { $0 = nil }
  }
}

// MARK: What the store asks

extension PartialUpload {
  var claimedBytes: Int64 { change(\.claimed) }
  var isComplete: Bool { standing.withLock { $0.phase == .complete } }
  var lastChange: Int64 { standing.withLock(\.lastChange) }

  /// How many seconds are left, unless bytes arrive.
  var secondsLeft: Int64 { store.settings.ageInSeconds - (secondsSince1970() - lastChange) }

  /// How much of an idle upload would be lost: its bytes, and then when it was last used.
  typealias Idleness = (size: Int64, lastUse: Int64)

  /// Nil if a request has used the upload in that many seconds.
  ///
  /// - Parameter ifEmpty: whether it must have no byte.
  func idleness(for seconds: Int64, ifEmpty: Bool) -> Idleness? {
    standing.withLock {
      $0.isIdle(for: seconds, ifEmpty: ifEmpty) ? ($0.size, $0.lastUse) : nil
    }
  }

  /// Makes the files of a new upload. The file of the bytes gets its name last, so each file of bytes has a state.
  ///
  /// - Throws: an error of the system. A file system without locks is one: nobody could go on with the upload.
  func makeFiles(_ origin: UploadState) throws {
    let file = try PartialFile(creating: id.bodyName, in: directory, mustLock: true) { _ in
      try origin.write(as: id, in: directory)
    }
    guard let file else { throw SystemError.alreadyExists }
    change { $0.file = file }
  }

  /// Removes the upload if it has been left alone for `age` seconds, and no other receiver goes on with it. If no request has used
  /// it for `grace` seconds, gives back the room that was claimed for bytes that have not arrived: otherwise who announces much
  /// and sends nothing would keep others out.
  func tidy(age: Int64, grace: Int64) {
    takeBackNote()
    let standing = standing.withLock(\.self)
    if standing.isExpired(after: age) { return endIf { $0.isExpired(after: age) } }
    writeAgain()
    guard standing.claimsMore, standing.isIdle(for: grace) else { return }
    change { state in
      if Standing(state).isIdle(for: grace) { giveBack(to: state.offset, &state) }
    }
  }

  /// Takes a wrong note back, if there is one and the disk lets it. Otherwise, the upload keeps its file open.
  func takeBackNote() {
    guard standing.withLock(\.hasStaleNote) else { return }
    change { state -> Void in try? takeBackNote(&state) }
  }

  /// Writes a state for which there was no room. There may be room by now.
  private func writeAgain() {
    guard unwritten.withLock({ $0 != nil }) else { return }
    change { state in
      // An upload that has ended has no files. Another receiver may have ended it, too.
      guard state.phase == .complete, let recorded = unwritten.withLock(\.self),
        case .processing? = (try? UploadState(of: id, in: directory))?.phase
      else { return }
      try? write(recorded)
    }
  }

  /// Removes the upload if it is still idle.
  func endIfIdle(for seconds: Int64, ifEmpty: Bool) {
    endIf { $0.isIdle(for: seconds, ifEmpty: ifEmpty) }
  }

  private func endIf(_ isOver: (Standing) -> Bool) {
    guard standing.withLock({ isOver($0) }) else { return }
    change { state in
      guard isOver(Standing(state)) else { return }
      guard !isUsedElsewhere(&state), isOver(Standing(state)) else { return close(&state) }
      end(&state)
    }
  }

  /// Another receiver in the same directory may go on with an upload that this one has found. Returns whether it uses the upload now,
  /// or that can't be known. If it doesn't, it can't until the file is closed. Notes when it has used the upload.
  private func isUsedElsewhere(_ state: inout State) -> Bool {
    // As long as a wrong note is not taken back, this receiver has locked the bytes. The disk that fails must not keep them for ever.
    guard state.phase == .open, state.staleNote == nil else { return false }
    let now = secondsSince1970()
    let change = directory.lastChange(of: id.bodyName) ?? now
    do {
      try open(&state)
      if state.phase == .open { state.lastChange = max(state.lastChange, min(change, now)) }
      return false
    } catch let refusal as UploadRefusal where refusal.code == .uploadInUse {
      state.lastChange = now
      return true
    } catch let refusal as UploadRefusal where refusal.code == .notFound {
      // The files that are left can't be trusted, and nobody can go on with them.
      return state.phase != .open
    } catch {
      // It is not known how old the upload is, so it is looked at again.
      return true
    }
  }

  /// Notes that another receiver in the same directory has completed an upload that this one has found: then it has moved or removed
  /// the file with the bytes, and the file of the state has the response.
  func noteOutcome(_ recorded: UploadState, _ state: inout State) {
    state.phase = .complete
    state.length = recorded.length ?? state.length
    state.offset = state.length ?? state.offset
    state.uncheckedFrom = nil
    let now = secondsSince1970()
    state.lastChange = min(directory.lastChange(of: id.stateName) ?? now, now)
    giveBack(to: 0, &state)
    store.countResponse(of: self, size: directory.size(of: id.stateName) ?? 0)
  }

  /// Claims room for the complete upload, as long as that is known, or for what has arrived.
  func claim(_ bytes: Int64, _ state: inout State) throws(UploadRefusal) {
    guard store.claim(bytes - state.claimed) else { throw UploadRefusal.noRoomForUpload }
    state.claimed = bytes
  }

  func giveBack(to bytes: Int64, _ state: inout State) {
    guard state.claimed > bytes else { return }
    _ = store.claim(bytes - state.claimed)
    state.claimed = bytes
  }
}
