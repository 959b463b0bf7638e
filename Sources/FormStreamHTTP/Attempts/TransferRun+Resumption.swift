import FormStreamMultipart
import FormStreamPlatform

/// Uploads that another process or an earlier request has begun.
extension TransferRun {
  /// The upload that the request continues.
  struct EarlierUpload: Sendable {
    /// Nil if there is none.
    var data: UploadResumeData?
    /// The file that keeps the data; nil if there is none.
    var file: UploadResumeFile?
  }

  /// Reads the data of the upload that the request continues.
  nonisolated(nonsending) func earlierUpload() async throws(TransferError) -> EarlierUpload {
    let options = request.options
    guard let path = options.resumeFile else { return EarlierUpload(data: options.resuming) }
    guard options.resumption.isChosen else { throw .resumeFileWithoutResumption }
    let file = try await prepareBody(by: .measuring) { () throws(TransferError) in
      try UploadResumeFile(path)
    }
    keeper.take(file)
    return EarlierUpload(data: file.earlier ?? options.resuming, file: file)
  }

  /// Prepares the first attempt to continue an upload, and notes the upload.
  ///
  /// - Returns: the verdict if the upload can't be continued; nil if the attempt may begin.
  nonisolated(nonsending) func keepUpload(
    _ next: inout NextAttempt, _ earlier: EarlierUpload, _ history: inout AttemptHistory
  ) async throws(TransferError) -> AttemptDecision.Verdict? {
    guard next.mayResume, let body = next.body else {
      guard earlier.file == nil, earlier.data == nil else { throw .uploadNotResumable(length: next.body?.contentLength) }
      return nil
    }
    let (request, url, way) = (originalRequest, next.url, next.uploadProtocol)
    let describe = { @Sendable () throws(TransferError) in
      do {
        return try UploadResumeData(of: request, to: url, body, by: way)
      } catch {
        throw TransferError.digestFailed(error)
      }
    }
    // Hashing much of a body would hold up other requests.
    var data =
      body.bytesInMemory <= 64 * 1024
      ? try describe() : try await prepareBody(by: .hashing, describe)
    guard let old = earlier.data else {
      keeper.begin(data)
      return nil
    }
    switch old.difference(from: data) {
    case nil: break
    case .file(let path):
      earlier.file?.remove()
      return .init(.sourceChanged, .sourceOfUploadChanged(path))
    case .request: throw .otherUpload(old.url, in: request.options.resumeFile)
    }
    data.takeProgress(of: old)
    if old.isInDoubt { history.noteDoubtOfEarlierProcess(isBeforeUpload: old.isInDoubtBefore) }
    if old.isInDoubt || old.uploadURL != nil, old.idempotencyKey != data.idempotencyKey {
      next.noteOtherKey()
      history.noteSent(withKey: false)
      data.idempotencyKey = nil
    }
    guard let resource = data.resource else {
      guard !old.isInDoubt || request.options.permitTwice(request.method, getsKey: next.isKeyed) else {
        return .init(.unknown, .uploadPerhapsSent(request.options.resumeFile))
      }
      keeper.begin(data, after: earlier.file?.earlier)
      return nil
    }
    // The session's rules are not part of the caller's request.
    let redirects = sharedRequest.value.options.redirects
    if let obstacle = redirects.obstacle(from: url.origin, to: resource.url.origin) {
      let error = TransferError.storedUploadElsewhere(
        url, resource.url, in: request.options.resumeFile, because: obstacle)
      return AttemptDecision.Verdict(.failed, error).after(history.doubt)
    }
    next.goOn(with: resource, by: old.uploadProtocol)
    keeper.begin(data, after: earlier.file?.earlier)
    return nil
  }

  /// Notes what the server says about the upload while an attempt sends it.
  func noteUpload(_ attempt: Attempt) -> @Sendable (UploadNotes) -> Void {
    { [keeper, publisher, workers = engine.workers] notes in
      guard let url = attempt.resourceURL(notes) else { return }
      keeper.note(url, confirmed: notes.confirmed)
      if let confirmed = notes.confirmed { publisher.noteConfirmed(confirmed) }
      // If no thread can be had, the state is written after the attempt.
      if keeper.takeUpWriting() { _ = workers.run { try? keeper.write() } }
    }
  }

  /// Ends the upload. Returns the data if another request can continue it.
  nonisolated(nonsending) func endUpload(
    _ verdict: AttemptDecision.Verdict, _ history: AttemptHistory
  ) async -> UploadResumeData? {
    let status = history.response?.status
    guard keeper.writes else { return keeper.end(verdict, status) }
    return await control.performBlocking(atMost: nil, grace: TransferControl.closingTime) { [keeper] in
      keeper.end(verdict, status)
    } ?? nil
  }

  /// Writes the state of the upload, if somebody wants to have it.
  nonisolated(nonsending) func writeUpload() async throws(TransferError) {
    guard keeper.writes else { return }
    try await prepareBody(by: .measuring) { [keeper] () throws(TransferError) in
      try keeper.write()
    }
  }
}
