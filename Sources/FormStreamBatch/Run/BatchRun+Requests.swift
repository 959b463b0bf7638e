import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

/// How requests are sent and repeated.
extension BatchRun {
  /// Sends the unit's request until it succeeds, or must not be repeated. Then the files are finished and removed from the
  /// unit. After an accepted slice, the unit gets the next slice instead. Returns false if the request was never begun.
  func deliver(_ unit: inout BatchRequest) async -> Bool {
    var request = layOut(&unit)
    var loop = RetryLoop(plan.retry)
    let number = makeNumber()
    defer { endWait(of: number) }
    noteUploads(of: unit, in: &request)
    /// The most bytes that the server has confirmed of an upload.
    var furthest = request?.options.resuming?.confirmed ?? 0
    var isBegun = false
    /// How often the folders of the file may still be asked for: another program may remove one again.
    var foldersLeft = 2
    while let sent = request {
      let size = unit.size
      guard await pace.enter(size) else {
        guard isBegun else { return false }
        finish(unit.removeAll())
        return true
      }
      do { try noteStarted(&unit) } catch {
        pace.leave(size)
        end(because: error)
        return false
      }
      isBegun = true
      loop.tries += 1
      let begun = ContinuousClock.now
      let result = await result(of: sent, unit, number)
      let leaving = unit.note(result, isIdempotent: plan.request.method.isIdempotent)
      var folders = Collections.Ending.nothing
      if let collections, foldersLeft > 0, sent.mayLackParent(result), !isStopped {
        // The requests for the folders are sent in the place of this one: other files of the folder would be refused, too.
        foldersLeft -= 1
        folders = await collections.make(for: sent, begun: begun) { [self, unit] request in
          await self.resultForFolder(of: request, unit, number)
        }
      }
      unit.readResponse(
        of: result, verifying: plan.check, keepingValueAt: plan.keptValue)
      // Attempts are counted anew whenever the server has received more than ever before.
      let confirmed = result.resumeData?.confirmed ?? 0
      if confirmed > furthest { (loop.tries, furthest) = (0, confirmed) }
      request?.options.resuming = result.resumeData
      noteOutage(result, &loop)
      endWait(of: number)
      // The request itself may have waited for the server for as long as it may.
      let wait: Duration?
      switch folders {
      case .made:
        // The folder was missing, so putting the file again is no other try.
        wait = .zero
        loop.tries -= 1
      case .wasThere where result.status != 500:
        // Another program may have made the folder since the file was refused: this is another try.
        foldersLeft = 0
        wait = self.wait(&unit, loop.next(retryAfter: nil))
      case .problem(let problem):
        for index in unit.members.indices { unit.members[index].ending.note(unmadeFolder: problem) }
        // If the server refuses the folder for good, its response to the file decides.
        wait = self.wait(after: problem.outcome == .failed ? result : problem, &unit, isShrunk: false, loop)
        // The folder is asked for again after the file's next try.
        foldersLeft += 1
      case .wasThere, .nothing:
        wait = result.isOutOfPatience ? nil : self.wait(after: result, &unit, isShrunk: !leaving.isEmpty, loop)
      }
      if wait != nil { beginWait(of: number, after: result) }
      // The journal must have the results before another request begins.
      finish(leaving)
      if wait == nil {
        noteEndOfUpload(result, unit)
        conclude(&unit)
      }
      notePace(result, begun: begun)
      if loop.outage == nil || wait == nil { noteReachability(result) }
      noteRefusal(of: sent)
      noteAccess(result)
      pace.leave(size)
      guard let wait else { return true }
      if !leaving.isEmpty {
        // Other files may have changed, too, so all of them are opened again.
        await open(&unit)
        request = layOut(&unit)
        noteUploads(of: unit, in: &request)
      } else {
        // A server that refuses one request may accept others. If it can't be reached, they would fail as well.
        let isSetAside = result.isOfOverload
        if isSetAside { queue.leave() }
        let isOver = await pause(wait)
        if isSetAside { queue.takeUp() }
        guard isOver, !loop.isOverdue else {
          finish(unit.removeAll())
          return true
        }
      }
    }
    return true
  }

  /// Sends a request that makes a folder, at the pace of all requests. Returns nil if none begins any more.
  ///
  /// - Parameter number: the number of the unit in ``State/waiting``.
  private func resultForFolder(
    of request: TransferRequest, _ unit: BatchRequest, _ number: Int
  ) async -> TransferResult? {
    guard await pace.waitForTurn() else { return nil }
    let begun = ContinuousClock.now
    let result = await result(of: request, unit, number)
    notePace(result, begun: begun)
    noteReachability(result)
    noteRefusal(of: request)
    noteAccess(result)
    return result
  }

  /// Has the journal note where the server keeps the unit's upload, so that a later run can continue it.
  private func noteUploads(of unit: BatchRequest, in request: inout TransferRequest?) {
    guard plan.request.options.resumption.isChosen, let journal, unit.slice == nil,
      unit.members.count == 1, let offset = unit.members.first?.file.offset
    else { return }
    request?.options.noteResumeData = { data in
      // If the journal can't be written, the next line of it ends the run.
      if data.uploadURL != nil { try? journal.writer.note(data, of: offset) }
    }
  }

  /// How long to wait before the unit's next attempt; nil if there is no next attempt.
  private func wait(
    after result: TransferResult, _ unit: inout BatchRequest, isShrunk: Bool, _ loop: RetryLoop
  ) -> Duration? {
    guard unit.mayBeRepeated(plan, after: result, isShrunk: isShrunk) else { return nil }
    return wait(&unit, loop.next(retryAfter: result.retryAfter))
  }

  private func wait(_ unit: inout BatchRequest, _ next: RetryLoop.Next) -> Duration? {
    switch next {
    case .attempt(let wait): return wait
    case .end(let reason):
      if let reason { unit.note(reason) }
      return nil
    }
  }

  /// Notes how a later run can continue the unit's upload, or that none can. While bytes are being sent, the notes say that all
  /// bytes may have been sent; now it is known how many were.
  private func noteEndOfUpload(_ result: TransferResult, _ unit: BatchRequest) {
    guard plan.request.options.resumption.isChosen, let journal, result.outcome != .ok, unit.slice == nil,
      unit.members.count == 1, let file = unit.members.first?.file
    else { return }
    let upload = result.resumeData.flatMap { $0.uploadURL == nil ? nil : $0 }
    try? journal.writer.note(upload, of: file.offset)
  }

  /// Finishes the files, or gives the unit the next slice of its file.
  private func conclude(_ unit: inout BatchRequest) {
    guard let next = unit.slice?.next, let member = unit.members.first,
      member.ending.state == .ok, let identity = member.opened?.identity
    else { return finish(unit.removeAll()) }
    let accepted = AcceptedSlices(bytes: next.offset, changed: identity.changedNanoseconds)
    do { try journal?.writer.note(accepted, of: member.file.offset) } catch {
      // The run ends, so the next slice is not begun.
      end(because: error)
    }
    unit.slice = next
  }

  /// Notes that a request for the files begins, also in the journal. Later requests for the same files are not noted.
  private func noteStarted(_ unit: inout BatchRequest) throws(BatchError) {
    if unit.isStarted { return }
    for index in unit.members.indices { unit.members[index].ending.noteBegun() }
    guard let journal else {
      unit.isStarted = true
      return
    }
    for member in unit.members { try journal.writer.noteStarted(member.file.offset) }
    // The keys of slices depend on the file's change time, so the next run must know it.
    if unit.slice?.offset == 0, let member = unit.members.first, let identity = member.opened?.identity {
      let none = AcceptedSlices(bytes: 0, changed: identity.changedNanoseconds)
      try journal.writer.note(none, of: member.file.offset)
    }
    unit.isStarted = true
  }

  /// - Parameter number: the number of the unit in ``State/waiting``.
  private func result(
    of request: TransferRequest, _ unit: BatchRequest, _ number: Int
  ) async -> TransferResult {
    var request = request
    followOutages(of: &request, number)
    let task = session.start(request)
    let isCutOff = state.withLock { state in
      if let path = unit.members.first?.file.path {
        state.inFlight[task.id] = InFlight(
          path: path, size: unit.size, sentBefore: unit.slice?.offset ?? 0, task: task, number: number)
      }
      if state.isPaused { task.pause() }
      return state.isCutOff
    }
    if isCutOff { task.cancel() }
    let result = await task.result
    state.withLock { $0.inFlight[task.id] = nil }
    return result
  }

  private func notePace(_ result: TransferResult, begun: ContinuousClock.Instant) {
    if result.isOfOverload {
      if pace.noteRefusal(result.retryAfter, begun: begun) { end(early: .overloaded) }
    } else if result.status != nil {
      pace.noteResponse(result.bytesSent)
      queue.allow(pace.limit + Self.opensAhead(plan))
    }
  }

  /// Waits before the next attempt, in short pieces. Returns false if the run was stopped, so that no attempt follows.
  func pause(_ wait: Duration) async -> Bool {
    let end = ContinuousClock.now + wait
    while !state.withLock(\.isStopped) {
      let rest = ContinuousClock.now.duration(to: end)
      if rest <= .zero { return true }
      try? await Task.sleep(for: min(rest, .milliseconds(100)))
    }
    return false
  }

  /// Ends the run if nothing accepts connections. Otherwise ten million files would fail one by one.
  private func noteReachability(_ result: TransferResult) {
    let isUnreachable = state.withLock { state in
      let isUnreachable = result.isUnreachable
      state.unreachable = isUnreachable ? state.unreachable + 1 : 0
      return state.unreachable >= max(10, 2 * pace.limit)
    }
    if isUnreachable { end(early: .unreachable) }
  }

  /// Ends the run if the server refuses access to the first requests: a token in a header is then wrong or missing, and would
  /// be for each file. Files that have URLs of their own may be forbidden one by one. A run for which the user has chosen a
  /// number of failures goes on.
  private func noteAccess(_ result: TransferResult) {
    guard plan.maximumFailures == nil, let status = result.status, !result.isOfOverload else {
      return
    }
    let isRefused = state.withLock { state in
      guard let refusals = state.accessRefusals, status == 401 || status == 403 && plan.urls == nil
      else {
        state.accessRefusals = nil
        return false
      }
      state.accessRefusals = refusals + 1
      return refusals + 1 >= max(pace.limit, 4)
    }
    if isRefused { end(early: .accessRefused(status: status)) }
  }

  /// Ends the run if the server or the proxy refused the credentials. Otherwise they would be refused for each file, or the
  /// user would be locked out.
  private func noteRefusal(of request: TransferRequest) {
    let isByServer = session.hasSeenRefusal(ofCredentialsOf: request)
    let isByProxy = session.hasSeenRefusal(byProxyOf: request)
    if isByServer { end(early: .credentialsRefused) }
    if isByProxy { end(early: .proxyCredentialsRefused) }
  }
}

extension TransferResult {
  /// Whether nothing accepted a connection.
  var isUnreachable: Bool {
    let codes: [TransferError.Code?] = [.connectFailed, .connectTimedOut, .proxyRefused]
    return codes.contains(error?.code)
  }

  /// Whether the server said that it is overloaded.
  fileprivate var isOfOverload: Bool {
    status.map(RetryPolicy.refusalsBeforeWork.contains) ?? false
  }

  /// How long an overloaded server asks to wait; nil if the server names no time.
  fileprivate var retryAfter: Duration? {
    isOfOverload ? response.flatMap { RetryAfter.duration($0.headers) } : nil
  }
}
