import FormStreamDigest
import FormStreamMultipart
import FormStreamPlatform

/// The file of a download until it is complete, with the record of its version.
///
/// All functions but ``size`` may block on the disk, and exclude each other. This is one file because its state is private:
/// file, record and name must change together.
final class ResumableFile: Sendable {
  /// After how many bytes the partial file is written to the disk. A power failure loses at most this many bytes.
  private static let synchronizedEvery: Int64 = 128 * 1024 * 1024
  /// The highest number that a file gets if its name is taken.
  private static let maximumNumber = 100_000

  private struct State {
    var file: PartialFile?
    /// The record of the file, as it is on the disk; nil if there is none.
    var record: PartialFileRecord?
    /// The version that was begun by this download, or by the download that this download continues. Its length is set as
    /// soon as a response has announced it. A response that contradicts the version is not stored.
    var known: ResourceVersion?
    /// How many bytes of the file are used: 0 if the file must be started again.
    var size: Int64 = 0
    var digest: RunningDigest?
    /// Whether the server now has other bytes than the file.
    var isStale = false
    /// The response that is being stored; nil between two responses. Only this response may write.
    var current: ObjectIdentifier?

    /// The value of `If-Range` that asks for the rest of the file; nil if the next request must ask for the complete file.
    var validator: String? { isStale || size == 0 ? nil : record?.version.validator }
  }

  let url: HTTPURL
  private let settings: DownloadSettings
  private let names: DownloadName
  private let directory: DirectoryDescriptor
  private let files: PartialFileStore
  /// The path of the directory, with a slash at its end unless it is empty.
  private let directoryPath: [UInt8]
  private let boot = bootID()
  private let state = Guarded(State())
  private let report: @Sendable (_ size: Int64, _ total: Int64?) -> Void

  /// Opens the directory, checks the destination, and takes the partial file of an earlier download if there is one to
  /// continue.
  ///
  /// - Parameters:
  ///   - url: the URL with its query.
  ///   - left: which partial file may be taken.
  ///   - report: called when the file has grown or was begun.
  init(
    _ url: HTTPURL, _ settings: DownloadSettings, taking left: LeftFile = .any,
    report: @escaping @Sendable (_ size: Int64, _ total: Int64?) -> Void
  ) throws(TransferError) {
    (self.url, self.settings, self.report) = (url, settings, report)
    let place: DownloadDestination.Place
    do throws(MultipartError) {
      place = try settings.destination.place.get()
    } catch {
      throw TransferError(error)
    }
    names = DownloadName(place, url)
    switch place {
    case .file(let path): directoryPath = Array(path.bytes.dropLast(path.name.bytes.count))
    case .directory(let path, _):
      let slash = UInt8(ascii: "/")
      let endsInSlash = path.bytes.isEmpty || path.bytes.last == slash
      directoryPath = endsInSlash ? path.bytes : path.bytes + [slash]
    }
    let destination = LocalPath(bytes: directoryPath + names.base.bytes)
    do throws(SystemError) {
      guard destination.isUsable, !destination.bytes.isEmpty else { throw .notFound }
      guard !names.base.bytes.isEmpty else { throw .isADirectory }
      directory = try DirectoryDescriptor(destination.directory)
    } catch {
      throw .notDownloadable(to: destination, error)
    }
    files = PartialFileStore(url: url, names: names, directory: directory)
    if !names.mayBeServers { try checkDestination(names.base) }
    do {
      try state.withLock { state in try takeLeftFile(left, &state) }
    } catch let error as SystemError {
      throw .notDownloadable(to: destination, error)
    } catch {
      throw .downloadNotStored(destination, from: url, error)
    }
  }

  // MARK: The partial file that an earlier download has left

  /// Which partial file may be taken.
  enum LeftFile {
    /// Any that an earlier download of the URL has left.
    case any
    /// Only the file of this path, if it is in the directory of the destination; none if nil.
    case only(LocalPath?)
  }

  private func takeLeftFile(_ left: LeftFile, _ state: inout State) throws {
    let taken: (PartialFile, PartialFileRecord)?
    switch left {
    case .any: taken = try files.takeLeft(settings.partialName.map(FileName.init(bytes:)))
    case .only(let wanted?) where path(wanted.name).bytes == wanted.bytes:
      taken = try files.take(wanted.name)
    case .only: taken = nil
    }
    guard let (file, record) = taken else { return }
    (state.file, state.record) = (file, record)
    let size = try file.size
    let reliable = settings.resumesPartialFile ? record.reliable(size, after: boot) : 0
    // A file with more bytes than this version has can't be of this version.
    guard reliable > 0, record.version.validator != nil, reliable <= record.version.length ?? .max
    else { return }
    if reliable < size { try file.truncate(to: reliable) }
    (state.size, state.known) = (reliable, record.version)
  }

  /// Hashes the bytes that an earlier download has left. Stops without a digest if the digest is no longer wanted.
  func hashWhatIsThere(while isWanted: () -> Bool) throws {
    guard settings.needsDigest else { return }
    try state.withLock { state in
      let digest = try RunningDigest()
      var offset: Int64 = 0
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
      defer { buffer.deallocate() }
      while let file = state.file, offset < state.size {
        guard isWanted() else { return }
        let count = try file.read(into: buffer, at: offset)
        // Another program has cut the file.
        guard count > 0 else { throw SystemError.cutShort }
        let piece = buffer[..<min(count, Int(clamping: state.size - offset))]
        try digest.update(UnsafeRawBufferPointer(rebasing: piece))
        offset += Int64(piece.count)
      }
      state.digest = digest
    }
  }

  // MARK: Requests

  /// What the next request asks for.
  struct Demand: Sendable {
    /// The offset of the first byte to ask for; 0 asks for the complete file.
    let offset: Int64
    /// The value of `If-Range`; nil if the request asks for the complete file.
    let validator: String?
  }

  var demand: Demand {
    state.withLock { state in
      guard let validator = state.validator else { return Demand(offset: 0, validator: nil) }
      return Demand(offset: state.size, validator: validator)
    }
  }

  /// How many bytes the file has.
  var size: Int64 { state.withLock(\.size) }

  /// The complete length; nil if it isn't known.
  var total: Int64? { state.withLock { $0.record?.version.length } }

  /// Whether the file has the beginning of the version that a response of status 200 describes.
  func hasBeginning(of head: TransferResponse) -> Bool {
    state.withLock { state in
      guard state.validator != nil, let known = state.record?.version,
        let version = try? ResourceVersion(
          head.headers, from: head.url, length: head.announcedLength)
      else { return false }
      return known.isSameVersion(as: version) && !known.contradicts(version)
    }
  }

  /// Makes the next request ask for the complete file.
  func startAgain() { state.withLock { $0.isStale = true } }

  /// Whether a response of status 416 says that the file already has all bytes.
  func isComplete(by head: TransferResponse) -> Bool {
    state.withLock { (try? $0.record?.version.isComplete($0.size, by: head)) == true }
  }

  /// The error if a response of status 416 gives the version another length; nil if the response doesn't.
  func contradiction(in head: TransferResponse) -> TransferError? {
    state.withLock { state in
      let total = ContentRange(head.headers)?.total
      do throws(TransferError) {
        try checkLength(total, head, &state)
        return nil
      } catch {
        return error
      }
    }
  }

  /// Checks that a response does not give the known version another length.
  private func checkLength(
    _ length: Int64?, _ head: TransferResponse, _ state: inout State
  ) throws(TransferError) {
    guard let known = state.known, let before = known.length, let length,
      let version = try? ResourceVersion(head.headers, from: head.url, length: length),
      known.contradicts(version)
    else { return }
    state.isStale = true
    throw .contradictoryLength(head.url, before, length)
  }

  // MARK: Responses

  /// Prepares the partial file for a response whose head has arrived.
  func begin(
    _ head: TransferResponse, to demand: Demand, for sink: DownloadSink
  ) throws -> DownloadSink.State {
    try state.withLock { state in
      if head.status == 206 {
        guard demand.validator != nil else { throw TransferError.unwantedRange(head.url) }
        let range = ContentRange(head.headers)
        guard var record = state.record, let file = state.file else { throw SystemError.notOpen }
        try checkLength(range?.total, head, &state)
        if let reason = try record.version.reasonNotToContinue(with: head, from: demand.offset) {
          return .mismatched(reason)
        }
        // The first response may not have announced the length. The bytes that are written now belong to this start of the
        // system.
        if record.boot != boot || record.version.length == nil {
          record.boot = boot
          record.version.length = range?.total ?? record.version.length
          try files.write(record, of: file.name)
          state.record = record
        }
        if state.known?.length == nil { state.known?.length = range?.total }
        state.current = ObjectIdentifier(sink)
        return .storing(end: range?.bytes?.upperBound)
      }
      let length = head.announcedLength
      let name = head.headers.serverName
      if names.mayBeServers { try checkDestination(names.final(name)) }
      let version = try ResourceVersion(head.headers, from: head.url, length: length)
      try checkLength(length, head, &state)
      if demand.validator != nil, let known = state.known,
        let reason = known.reasonToAskForEverything(after: version, from: demand.offset)
      {
        return .mismatched(reason)
      }
      if let known = state.known, known.isSameVersion(as: version) {
        state.known?.length = known.length ?? length
      } else {
        state.known = version
      }
      try beginFile(version, name, &state)
      state.current = ObjectIdentifier(sink)
      report(0, length)
      return .storing(end: length)
    }
  }

  /// Makes the partial file empty, and writes the record of the version before the first byte.
  private func beginFile(
    _ version: ResourceVersion, _ serverName: String?, _ state: inout State
  ) throws {
    // A record of the new version beside bytes of the old version would mix the two versions.
    try state.file?.truncate(to: 0)
    (state.size, state.record, state.isStale) = (0, nil, false)
    let describe = { [url, boot] (file: PartialFile.Identity) in
      try PartialFileRecord(url, file, boot: boot, version: version, serverName: serverName)
    }
    if let file = state.file {
      let record = try describe(file.identity)
      try files.write(record, of: file.name)
      state.record = record
    } else {
      (state.file, state.record) = try files.make(describe)
    }
    if settings.needsDigest { state.digest = try RunningDigest() }
  }

  /// Appends bytes of a response.
  func append(_ bytes: UnsafeRawBufferPointer, from sink: DownloadSink) throws {
    try state.withLock { state in
      // A response that is no longer waited for must not write into the bytes of the next response.
      guard state.current == ObjectIdentifier(sink), let file = state.file else {
        throw SystemError.notOpen
      }
      do {
        try file.write(bytes)
      } catch {
        // A part of the bytes may have been written.
        if (try? file.truncate(to: state.size)) == nil { state.isStale = true }
        throw error
      }
      try state.digest?.update(bytes)
      state.size += Int64(bytes.count)
      try synchronizeIfDue(file, &state)
      report(state.size, state.record?.version.length)
    }
  }

  private func synchronizeIfDue(_ file: PartialFile, _ state: inout State) throws {
    guard settings.synchronizes, var record = state.record,
      state.size - record.synchronized >= Self.synchronizedEvery
    else { return }
    try synchronize(file, &state)
    record.synchronized = state.size
    try files.write(record, of: file.name, isSynchronized: true)
    state.record = record
  }

  /// Writes the partial file to the disk. If that fails, the system may have dropped the bytes that it could not write, and
  /// report success the next time. So these bytes can't be relied on.
  private func synchronize(_ file: PartialFile, _ state: inout State) throws(SystemError) {
    do throws(SystemError) {
      try file.synchronize()
    } catch {
      let size = state.record?.synchronized ?? 0
      if (try? file.truncate(to: size)) == nil { file.remove() }
      (state.size, state.isStale) = (size, true)
      throw error
    }
  }

  /// Ends the response that is being stored, after waiting for a write that is being made.
  func end(_ sink: DownloadSink) {
    state.withLock { state in
      if state.current == ObjectIdentifier(sink) { state.current = nil }
    }
  }

  // MARK: The end

  /// A complete file.
  struct Stored: Sendable {
    let path: LocalPath
    let size: Int64
    let sha256: SHA256Digest?
  }

  /// A partial file that stays for a later download.
  struct Left: Sendable {
    let path: LocalPath
    let size: Int64
    let resumeData: DownloadResumeData?
  }

  /// Gives the complete file its name.
  func complete() throws(TransferError) -> Stored {
    let place = partialFile ?? destination
    do {
      return try state.withLock { state in
        guard let file = state.file else { throw SystemError.notOpen }
        guard try isAsWritten(file, state) else { throw TransferError.partialFileChanged(place) }
        // If the response had no length, the length is known only now.
        if let length = state.known?.length, length != state.size {
          let size = state.size
          files.remove(file)
          state = State()
          throw TransferError.contradictoryLength(url, length, size)
        }
        let sha256 = try state.digest?.finalize()
        if let expected = settings.expectedSHA256, expected != sha256 {
          files.remove(file)
          state = State()
          throw TransferError.digestMismatch(url, expected, sha256)
        }
        if settings.synchronizes { try synchronize(file, &state) } else { try file.flush() }
        let wanted = names.final(state.record?.serverName)
        let isReplacing = settings.destination.existingFile == .replace
        try? file.setPermissions(replacing: isReplacing ? wanted : nil)
        let name = try self.name(file, wanted)
        let size = state.size
        files.removeRecord(of: file)
        // Closing the file reports no new error, because the file was synchronized or flushed.
        try? file.close()
        state = State()
        do throws(SystemError) {
          if settings.synchronizes { try directory.synchronize() }
        } catch {
          throw TransferError.nameNotSynchronized(path(name), from: url, error)
        }
        return Stored(path: path(name), size: size, sha256: sha256)
      }
    } catch let error as TransferError {
      throw error
    } catch {
      throw .downloadNotStored(place, from: url, error)
    }
  }

  /// Whether the file still has its name, and no other program has cut it or appended to it.
  private func isAsWritten(_ file: PartialFile, _ state: State) throws(SystemError) -> Bool {
    guard try file.hasName else { return false }
    return try file.size == state.size
  }

  private func name(_ file: PartialFile, _ wanted: FileName) throws -> FileName {
    switch settings.destination.existingFile {
    case .replace:
      try checkDestination(wanted)
      if try file.move(to: wanted, ifTaken: .replace) { return wanted }
      throw SystemError.isADirectory
    case .refuse:
      if try file.move(to: wanted, ifTaken: .refuse) { return wanted }
      throw TransferError.destinationExists(path(wanted))
    case .number:
      for number in 1...Self.maximumNumber {
        let name =
          settings.numbersAtEnd && number > 1
          ? wanted.appending(Array(".\(number - 1)".utf8)) : wanted.numbered(number)
        if try file.move(to: name, ifTaken: .refuse) { return name }
      }
      throw TransferError.destinationExists(path(wanted))
    }
  }

  private func checkDestination(_ name: FileName) throws(TransferError) {
    do throws(SystemError) {
      switch settings.destination.existingFile {
      case .number: return
      case .refuse: if try directory.identity(of: name) == nil { return }
      case .replace:
        if try directory.mayReplace(name) { return }
        throw .alreadyExists
      }
    } catch {
      throw .notDownloadable(to: path(name), error)
    }
    throw .destinationExists(path(name))
  }

  private func path(_ name: FileName) -> LocalPath { LocalPath(bytes: directoryPath + name.bytes) }

  /// The path that the file gets, unless the server or a number changes its name.
  var destination: LocalPath { path(names.base) }

  /// The path of the partial file; nil if there is none.
  var partialFile: LocalPath? { state.withLock(\.file?.name).map(path) }

  /// Releases the partial file. The file stays for a later download, unless it is empty. Returns the file that stays.
  @discardableResult func release() -> Left? {
    state.withLock { state in
      guard let file = state.file else { return nil }
      defer { state = State() }
      guard settings.keepsPartialFile, let size = try? file.size, size > 0 else {
        files.remove(file)
        return nil
      }
      // `state.size` is 0 if this download didn't use the partial file.
      guard state.size == 0 || (try? isAsWritten(file, state)) == true else {
        files.removeRecord(of: file)
        return nil
      }
      if var record = state.record {
        // Some file systems set the time of a change only when the written bytes leave this machine.
        try? file.flush()
        record.left = try? file.condition
        // If the disk is full, the file stays as a killed download would leave it.
        try? files.write(record, of: file.name)
      }
      let path = path(file.name)
      let resumeData =
        state.validator == nil
        ? nil
        : DownloadResumeData(url, path, state.size, state.record?.version.length, settings)
      return Left(path: path, size: size, resumeData: resumeData)
    }
  }
}
