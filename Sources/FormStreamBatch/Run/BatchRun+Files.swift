import FormStreamMultipart
import FormStreamHTTP

/// How files become requests.
extension BatchRun {
  /// Sends the files of a pack that can be opened, in one request.
  func send(_ files: [BatchFile]) async {
    var unit = BatchRequest(
      members: files.map { file in
        BatchRequest.Member(
          ending: FileOutcome(file, maybeDuplicate: maybeDuplicate(file), hasUsedKey: hasUsedKey(file)))
      })
    if journal?.skipsDoubtful ?? false {
      finish(
        unit.remove(where: \.ending.maybeDuplicate).map { ending in
          var ending = ending
          ending.skip()
          return ending
        })
    }
    await open(&unit)
    if let size = plan.sliceSize {
      await sendSlices(&unit, of: size)
    } else {
      _ = await deliver(&unit)
    }
  }

  /// Whether an earlier run may have sent the file successfully, so that sending it again may store it twice.
  private func maybeDuplicate(_ file: BatchFile) -> Bool {
    if plan.request.method.isIdempotent { return false }
    // A request that continues an upload is asked about before it is sent again.
    if continuedUpload(of: file) != nil { return false }
    return mayBeStored(file)
  }

  /// The file's upload of an earlier run, if this run sends files in a way that can continue uploads; nil if there is none.
  private func continuedUpload(of file: BatchFile) -> UploadResumeData? {
    guard plan.request.options.resumption.isChosen, !plan.packing.isShared, plan.sliceSize == nil else {
      return nil
    }
    return journal?.earlier.unfinished(file)
  }

  private func mayBeStored(_ file: BatchFile) -> Bool {
    // If the manifest marks the file, the earlier requests had other idempotency keys, unless it says which key they had.
    if file.maybeDuplicate { return file.keyRecord == nil || !plan.isHarmlessInLaterRuns }
    return switch journal?.earlier.status(of: file.offset) {
    case .doubtful: true
    case .repeatable: !plan.isHarmlessInLaterRuns
    case .unsent, .accepted, nil: false
    }
  }

  /// Whether an earlier run may have delivered the file with the idempotency key that this run sends.
  private func hasUsedKey(_ file: BatchFile) -> Bool {
    guard plan.sendsIdempotencyKeys, plan.isHarmlessInLaterRuns, !plan.request.method.isIdempotent else { return false }
    return file.maybeDuplicate && file.keyRecord != nil || journal?.earlier.status(of: file.offset) == .repeatable
  }

  /// Opens the files of the unit. Files that can't be sent are finished and removed from the unit.
  func open(_ unit: inout BatchRequest) async {
    for index in unit.members.indices {
      do throws(BatchError) {
        let opened = try await open(unit.members[index].file)
        unit.members[index].opened = opened
        unit.members[index].ending.note(opened)
      } catch {
        unit.members[index].opened = nil
        unit.members[index].ending.fail(error)
      }
    }
    finish(unit.remove { $0.opened == nil })
  }

  /// Opens a file. If too many files are open, it tries again as long as requests are on their way, because their files
  /// will be closed. After that, it tries as often as a request may be tried.
  private func open(_ file: BatchFile) async throws(BatchError) -> OpenedBatchFile {
    var loop = RetryLoop(plan.retry)
    while true {
      let problem: BatchError
      do throws(BatchError) { return try OpenedBatchFile(file, plan) } catch { problem = error }
      guard problem.code == .tooManyOpenFiles else { throw problem }
      var wait = Duration.milliseconds(50)
      if pace.active == 0 {
        loop.tries += 1
        guard case .attempt(let delay) = loop.next() else { throw problem }
        wait = delay
      }
      guard await pause(wait) else { throw problem }
    }
  }

  /// Makes the request for the unit's files. Files for which no request can be made are finished and removed from the unit.
  /// Returns nil if no file is left.
  func layOut(_ unit: inout BatchRequest) -> TransferRequest? {
    while !unit.members.isEmpty {
      do {
        var request =
          if let continued = try continuedRequest(&unit) {
            continued
          } else {
            try plan.request(for: unit.members.compactMap(\.opened), unit.slice)
          }
        (request.options.maximumRate, request.options.sharedRate) = (nil, rate)
        for index in unit.members.indices { unit.members[index].ending.note(request.url) }
        return request
      } catch {
        finish(unit.removeFailing(plan, error))
      }
    }
    return nil
  }

  /// The request that continues an upload of an earlier run; nil if there is none, or the file has changed since.
  private func continuedRequest(_ unit: inout BatchRequest) throws -> TransferRequest? {
    guard !unit.isStarted, unit.members.count == 1, let member = unit.members.first,
      let opened = member.opened, let data = continuedUpload(of: member.file)
    else { return nil }
    var request = try plan.request(for: [opened], boundary: data.boundary)
    guard data.canBeContinued(by: request) else {
      unit.members[0].ending.maybeDuplicate =
        !plan.request.method.isIdempotent && mayBeStored(member.file)
      return nil
    }
    request.options.resuming = data
    return request
  }

  /// Sends the slices of the unit's file that are not accepted yet, one after another.
  private func sendSlices(_ unit: inout BatchRequest, of size: Int64) async {
    guard let member = unit.members.first, let identity = member.opened?.identity else { return }
    let progress = journal.flatMap { $0.earlier.progress(of: member.file) }
    let continued = progress?.next(
      of: size, in: identity.size, changed: identity.changedNanoseconds)
    unit.slice = continued ?? FileSlice(at: 0, of: size, in: identity.size)
    // If accepted slices have another size or other contents, bytes that the server has accepted are sent again. If a slice
    // is in doubt, it is sent again with another key.
    let mayBeStored =
      progress?.isBegun == true || member.file.keyRecord != nil && member.file.maybeDuplicate
      || journal?.earlier.status(of: member.file.offset) == .repeatable
    if let progress, progress.hasOthers || continued == nil, mayBeStored, !plan.request.method.isIdempotent {
      unit.members[0].ending.maybeDuplicate = true
    }
    while await deliver(&unit) {
      if unit.members.isEmpty { return }
    }
    guard unit.isStarted, let slice = unit.slice else { return }
    // The unit still has its file, so the run was stopped between two slices.
    finish(
      unit.removeAll().map { ending in
        var ending = ending
        ending.noteStop(before: slice)
        return ending
      })
  }
}
