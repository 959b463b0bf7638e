import FormStreamMultipart
import FormStreamPlatform

/// The resumable uploads of a receiver: those that are not complete, and the responses to those that are.
///
/// The files decide what there is: each upload has a file with the bytes that have arrived, and a file with its
/// ``UploadState``. This object knows their names and sizes, so that the limits cost nothing to check.
final class UploadStore: Sendable {
  /// The thread that removes uploads that are too old.
  private enum Remover { case none, running, stopped }

  /// The room that the smallest file takes on most file systems.
  private static let blockSize: Int64 = 4096

  let settings: Receiver.ResumableUploads
  private let openedParent: Guarded<DirectoryDescriptor>
  /// The directory of the files; nil until there is an upload.
  private let directory = Guarded<DirectoryDescriptor?>(nil)
  /// An upload may hold its own lock while it takes this lock or one of the following, except `creation`. So those are never held while
  /// an upload is asked something.
  private let index = Guarded<[UploadID: PartialUpload]>([:])
  /// The uploads that could not be taken in when this receiver started, because another one was using them. That one may leave them.
  private let pending = Guarded<Set<UploadID>>([])
  /// Who holds how many of them.
  private let shares = Guarded(UploadShares())
  /// The bytes that the uploads that are not complete have, or will have.
  private let claimed = Guarded<Int64>(0)
  /// Marks the directory as in use by this process; nil if there is none, or the file system does not support that.
  private let use = Guarded<DirectoryUse?>(nil)
  /// When this object last looked for old uploads, in seconds since 1970.
  private let lastTidied = Guarded(Int64.min)
  /// Signaled when there is a first upload, and at the end.
  private let wakeRemover = AutoResetEvent()
  private let remover = Guarded(Remover.none)
  /// Held while room is made for a new upload, so that two new ones don't get the same room.
  private let creation = Guarded(())

  /// Opens the directory, finds the uploads of earlier receivers, and removes those that have expired.
  ///
  /// - Throws: `uploadsUnusable`.
  init(_ settings: Receiver.ResumableUploads) throws(ReceiverError) {
    self.settings = settings
    do throws(SystemError) {
      guard settings.directory.isUsable else { throw .notFound }
      openedParent = Guarded(try DirectoryDescriptor(openingOrMaking: settings.directory))
      if try parent.identity(of: UploadID.directoryName) != nil { try findUploads() }
    } catch {
      throw Self.unusable(settings, error)
    }
  }

  private static func unusable(
    _ settings: Receiver.ResumableUploads, _ error: SystemError
  ) -> ReceiverError {
    ReceiverError(
      .uploadsUnusable, on: settings.directory.description,
      "The directory \".formstream-uploads\" in \"\(settings.directory)\" can't be used for resumable uploads: \(error). It "
        + "must be a directory of this user that no other user can write to, and no link: move away what has this name, or "
        + "switch resumable uploads off.",
      underlying: error)
  }

  /// The directory around the directory of the files. It is made again if somebody has removed it.
  private var parent: DirectoryDescriptor {
    openedParent.withLock { parent in
      if parent.isRemoved, let other = try? DirectoryDescriptor.remade(at: settings.directory) {
        parent = other
      }
      return parent
    }
  }

  /// Opens the directory of the files, and makes it first if there is none. If somebody has removed the directory or moved it away,
  /// this makes another one. File systems differ in the errors of a removed directory, so its name decides.
  private func openDirectory() throws(SystemError) -> DirectoryDescriptor {
    try directory.withLock { known throws(SystemError) in
      if let known, known.isStill(UploadID.directoryName, in: parent) { return known }
      guard
        let opened = try DirectoryDescriptor(
          openingOrMakingPrivate: UploadID.directoryName, in: parent)
      else { throw .notADirectory }
      known = opened
      use.withLock { $0 = try? DirectoryUse(of: opened) }
      return opened
    }
  }

  /// Opens the directory of the files for a request.
  ///
  /// - Throws: `uploadsUnusable` if something else has its name, or an error of the system. The receiver's log has either.
  private func directoryForRequest() throws -> DirectoryDescriptor {
    do throws(SystemError) {
      return try openDirectory()
    } catch  where error == .notADirectory {
      throw Self.unusable(settings, error)
    }
  }

  private func findUploads() throws(SystemError) {
    let directory = try openDirectory()
    var ids: Set<UploadID> = []
    try directory.forEachName { name in
      if let id = UploadID(fileName: name) { ids.insert(id) }
    }
    let now = secondsSince1970()
    var complete: [PartialUpload] = []
    for id in ids {
      do {
        if let upload = try find(id, in: directory) {
          if upload.isComplete { complete.append(upload) }
          continue
        }
      } catch {
        pending.withLock { _ = $0.insert(id) }
        continue
      }
      // What can't be used now may belong to another receiver, which would have removed it by now if both files were old: the state
      // is not written while bytes arrive.
      let names = [id.stateName, id.bodyName]
      if let change = names.compactMap({ directory.lastChange(of: $0) }).max(),
        now - change >= settings.ageInSeconds
      {
        for name in names { directory.remove(name) }
      }
    }
    for upload in complete.sorted(by: { $0.lastChange < $1.lastChange }) {
      let size = directory.size(of: upload.id.stateName)
      for excess in keepResponse(of: upload, size: size ?? 0) { remove(excess) }
    }
    tidy()
    if !isEmpty { startRemover() }
  }

  /// Whether there is nothing that may have to be removed later.
  private var isEmpty: Bool { index.withLock(\.isEmpty) && pending.withLock(\.isEmpty) }

  /// Takes an upload in that another receiver has left or is done with; nil if there is none. The caller counts a kept response.
  ///
  /// - Throws: a refusal if another receiver is using the upload, or an error of the system if its files can't be read now.
  private func find(_ id: UploadID, in directory: DirectoryDescriptor) throws -> PartialUpload? {
    guard let upload = try PartialUpload(found: id, in: self, directory) else { return nil }
    let bytes = upload.claimedBytes
    index.withLock { $0[id] = upload }
    claimed.withLock { $0 += bytes }
    if !upload.isComplete { shares.withLock { $0.begin(id, of: upload.client) } }
    return upload
  }

  /// The upload with that name; nil if there is none. Another receiver in the same directory may have begun it after this one was
  /// started, or may have used it then. A client that is told that there is no such upload sends it again.
  ///
  /// - Throws: a refusal if another receiver is using the upload, or an error of the system.
  func upload(_ id: UploadID) throws -> PartialUpload? {
    tidy()
    return try takenIn(id)
  }

  /// The upload with that name, which is taken in if this object doesn't know it.
  private func takenIn(_ id: UploadID) throws -> PartialUpload? {
    if let known = index.withLock({ $0[id] }) { return known }
    guard try parent.identity(of: UploadID.directoryName) != nil else { return nil }
    let directory = try directoryForRequest()
    guard try directory.identity(of: id.stateName) != nil else { return nil }
    let found: PartialUpload? = try creation.withLock { _ in
      // Two requests may ask at once. An upload that has just ended has no files.
      if let known = index.withLock({ $0[id] }) { return known }
      let found = try find(id, in: directory)
      if let found, found.isComplete { countResponse(of: found, size: directory.size(of: id.stateName) ?? 0) }
      return found
    }
    if found != nil { startRemover() }
    return found
  }

  /// Creates an upload. Nothing of it has arrived.
  ///
  /// - Parameter client: whose share of the store the upload belongs to.
  /// - Throws: a refusal if there is no room for it, or an error of the system.
  func create(origin: RequestHead, length: Int64?, for client: String) throws -> PartialUpload {
    tidy()
    if let length, let store = settings.store, length > store {
      throw UploadRefusal.bodyTooLarge(store)
    }
    let directory = try directoryForRequest()
    do {
      return try create(origin: origin, length: length, for: client, in: directory)
    } catch let error as SystemError where !directory.isStill(UploadID.directoryName, in: parent) {
      // Somebody has just removed the directory.
      guard let other = try? openDirectory() else { throw error }
      return try create(origin: origin, length: length, for: client, in: other)
    }
  }

  private func create(
    origin: RequestHead, length: Int64?, for client: String, in directory: DirectoryDescriptor
  ) throws -> PartialUpload {
    let upload = PartialUpload(new: UploadID(), in: self, directory, length: length, of: client)
    try creation.withLock { _ in
      let bytes = upload.claimedBytes
      guard claim(bytes) else { throw UploadRefusal.noRoomForUpload }
      do throws(UploadRefusal) {
        try makeRoom(for: client)
      } catch {
        _ = claim(-bytes)
        throw error
      }
      index.withLock { $0[upload.id] = upload }
      shares.withLock { $0.begin(upload.id, of: client) }
    }
    do {
      try upload.makeFiles(UploadState(origin: origin, length: length, client: client))
    } catch {
      remove(upload)
      throw error
    }
    startRemover()
    return upload
  }

  /// Makes room for one more upload of a client in the number of uploads.
  ///
  /// Uploads that are idle make room: those without a byte for anybody, others for clients that don't have more uploads than their
  /// own. If none is idle, a client that has more than its share makes room for one that has less. In all cases, the client that has
  /// most uploads comes first, and of its uploads the one with the fewest bytes: least is lost, and whoever fills the store with
  /// small uploads loses those. An upload that a request uses is never removed.
  private func makeRoom(for client: String) throws(UploadRefusal) {
    typealias Groups = [Set<UploadID>]
    let (isFull, all, notSmaller, aboveShare) = shares.withLock { shares -> (Bool, Groups, Groups, Groups) in
      guard shares.openCount >= settings.count else { return (false, [], [], []) }
      return (
        true, shares.openUploads, shares.openUploads(notBelow: client),
        shares.openUploads(aboveShareFor: client, of: settings.count)
      )
    }
    guard isFull else { return }
    let idle = settings.idleSeconds
    for ids in all where endFirst(of: ids, idleFor: idle, ifEmpty: true) { return }
    for ids in notSmaller where endFirst(of: ids, idleFor: idle, ifEmpty: false) { return }
    for ids in aboveShare where endFirst(of: ids, idleFor: 0, ifEmpty: false) { return }
    throw .tooManyUploads
  }

  /// Ends the idle upload with the fewest bytes; of those, the one that was idle for longest. Returns false if none is idle.
  private func endFirst(of ids: Set<UploadID>, idleFor seconds: Int64, ifEmpty: Bool) -> Bool {
    let uploads = index.withLock { index in ids.compactMap { index[$0] } }
    let idle = uploads.compactMap { upload in
      upload.idleness(for: seconds, ifEmpty: ifEmpty).map { (upload, $0) }
    }
    for (upload, _) in idle.sorted(by: { $0.1 < $1.1 }) {
      upload.endIfIdle(for: seconds, ifEmpty: ifEmpty)
      // A request may have come for it meanwhile.
      if index.withLock({ $0[upload.id] }) == nil { return true }
    }
    return false
  }

  /// Counts the kept response of a complete upload. Returns the uploads whose responses no longer fit, which the caller removes when
  /// it holds no lock.
  func keepResponse(of upload: PartialUpload, size: Int64) -> [PartialUpload] {
    countResponse(of: upload, size: size)
    let excess = shares.withLock { $0.takeExcess(over: settings.responseBytes) }
    return index.withLock { index in excess.compactMap { index[$0] } }
  }

  /// Counts the kept response of a complete upload. Room is made for it when the next response is kept.
  func countResponse(of upload: PartialUpload, size: Int64) {
    // Files take whole blocks.
    let bytes = (max(size, 1) + Self.blockSize - 1) / Self.blockSize * Self.blockSize
    shares.withLock { $0.keep(upload.id, of: upload.client, bytes: bytes) }
  }

  /// Claims more bytes for an upload, or gives bytes back; returns false if there is no room for them.
  func claim(_ bytes: Int64) -> Bool {
    claimed.withLock { claimed in
      let (sum, isTooLarge) = claimed.addingReportingOverflow(bytes)
      guard !isTooLarge, bytes <= 0 || sum <= settings.store ?? .max else { return false }
      claimed = sum
      return true
    }
  }

  /// Removes an upload and its files. Waits until it is not being processed.
  func remove(_ upload: PartialUpload) { upload.end() }

  /// Forgets an upload that has ended.
  func forget(_ upload: PartialUpload) {
    index.withLock { _ = $0.removeValue(forKey: upload.id) }
    shares.withLock { $0.remove(upload.id) }
  }

  /// Removes the uploads that are too old, and gives back the room that was claimed for bytes that nobody sends. A request in
  /// progress keeps its upload and its room.
  func tidy() {
    // All ages are whole seconds, so a second look in the same second finds nothing more.
    let now = secondsSince1970()
    let isLate = lastTidied.withLock { last in
      defer { last = now }
      return last != now
    }
    guard isLate else { return }
    for upload in Array(index.withLock(\.values)) {
      upload.tidy(age: settings.ageInSeconds, grace: settings.idleSeconds)
    }
    for id in pending.withLock(\.self) {
      // If another receiver still uses the upload, this one tries again later.
      do { _ = try takenIn(id) } catch { continue }
      pending.withLock { _ = $0.remove(id) }
    }
  }

  /// Starts the thread that removes old uploads, unless it is running. It ends when there are no uploads.
  private func startRemover() {
    let isNeeded = remover.withLock { remover in
      guard remover == .none else { return false }
      remover = .running
      return true
    }
    guard isNeeded else { return }
    let isStarted = startThread("formstream-old") { [self] in
      while removeOld() { wakeRemover.wait(atMost: interval) }
    }
    // Without the thread, old uploads are removed when the next request about an upload arrives.
    if !isStarted { remover.withLock { $0 = .none } }
  }

  /// How late an upload is removed at most.
  private var interval: Duration {
    max(.milliseconds(100), min(.seconds(60), settings.age / 8))
  }

  /// Removes old uploads. Returns false if the thread that does so must end.
  private func removeOld() -> Bool {
    tidy()
    return remover.withLock { remover in
      if remover == .running, isEmpty { remover = .none }
      return remover == .running
    }
  }

  /// Ends the thread that removes old uploads.
  func stop() {
    remover.withLock { $0 = .stopped }
    wakeRemover.signal()
  }

  /// Forgets all uploads, whose files stay. The uploads and this object hold each other, so nothing would be released otherwise.
  /// No request must be left.
  func close() {
    // The next receiver would believe a wrong note: nothing keeps it from the bytes any more.
    for upload in Array(index.withLock(\.values)) { upload.takeBackNote() }
    index.withLock { $0 = [:] }
  }

  /// The limits for an upload, as the value of `Upload-Limit`.
  ///
  /// - Parameters:
  ///   - size: the most bytes in the body of the request that creates the upload.
  ///   - age: how many seconds are left.
  func limits(size: Int64, age: Int64? = nil) -> String {
    let size = min(size, settings.store ?? .max)
    let sizeLimit =
      size > Receiver.ResumableUploads.greatestNumber ? "" : "max-size=\(size), "
    return
      "\(sizeLimit)min-size=\(min(settings.minimumSize, max(size, 0))), max-age=\(max(age ?? settings.ageInSeconds, 0))"
  }
}

/// This machine's time, in seconds.
func secondsSince1970() -> Int64 { timeSince1970().components.seconds }
