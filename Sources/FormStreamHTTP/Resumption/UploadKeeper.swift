import FormStreamMultipart
import FormStreamPlatform

/// Keeps what is needed to continue a request's upload, and writes it to a file if the request has one.
///
/// What is written while bytes are being sent must still be true if the process is killed at once. So it says that all bytes may
/// have been sent.
final class UploadKeeper: Sendable {
  fileprivate struct State {
    var data: UploadResumeData?
    var file: UploadResumeFile?
    /// What was written or reported last.
    var last: UploadResumeData?
    /// Whether the server has said that the upload is complete.
    var isComplete = false
    /// Whether the server no longer keeps the upload.
    var isLost = false
    /// Whether somebody is about to write.
    var isWriting = false

    /// Whether the newest state says enough that is new. A server may confirm each byte, which would need a line for each.
    var needsWriting: Bool {
      guard let data, data != last else { return false }
      guard var earlier = last, data.confirmed > earlier.confirmed else { return true }
      let step = data.confirmed - earlier.confirmed
      earlier.confirmed = data.confirmed
      return data != earlier || step >= data.total / 4096
    }
  }

  private let state = Guarded(State())
  /// Held while the file is written, so that no older state replaces a newer one.
  private let writing = Guarded(())
  private let report: (@Sendable (UploadResumeData) -> Void)?

  init(_ options: TransferOptions) {
    report = options.noteResumeData
  }

  /// Takes the file that the upload is written to, until the end.
  func take(_ file: UploadResumeFile) {
    state.withLock { $0.file = file }
  }

  /// Notes the upload that is about to begin or to go on.
  ///
  /// - Parameter last: what the file says already; nil if it says nothing.
  func begin(_ data: UploadResumeData, after last: UploadResumeData? = nil) {
    state.withLock { ($0.data, $0.last) = (data, last) }
  }

  /// Notes that an attempt is about to be made.
  ///
  /// - Parameters:
  ///   - hasEffect: whether the attempt sends bytes, or may have the request carried out. Otherwise it only creates an upload. If there is
  ///     no room for the file, the server must not keep an upload that nobody goes on with.
  ///   - isLast: whether the server may carry the request out after this attempt.
  func willSend(_ next: NextAttempt, hasEffect: Bool, isLast: Bool, _ history: AttemptHistory) {
    state.withLock { state in
      guard var data = state.data else { return }
      data.uploadProtocol = next.uploadProtocol
      data.note(hasEffect ? next.resource : nil)
      data.mostSent = hasEffect ? data.total : 0
      data.note(history)
      // The next run must not take for keyed what was sent without the key.
      if !next.isKeyed { data.idempotencyKey = nil }
      if isLast { data.isInDoubt = true }
      state.data = data
    }
  }

  /// Notes that this attempt was not made, because it couldn't be written that it would be: what was written last counts.
  func didNotSend() {
    state.withLock { $0.data = $0.last ?? $0.data }
  }

  /// Notes what the server has said while bytes are being sent.
  func note(_ resource: HTTPURL, confirmed: Int64?) {
    state.withLock { state in
      guard var data = state.data else { return }
      data.uploadURL = resource.absoluteString
      data.confirmed = max(data.confirmed, confirmed ?? 0)
      state.data = data
    }
  }

  /// Notes how an attempt has ended.
  func didSend(_ next: NextAttempt, _ notes: UploadNotes, _ history: AttemptHistory) {
    state.withLock { state in
      state.data?.note(next.resource)
      state.data?.mostSent = next.resource?.mostSent ?? 0
      state.data?.note(history)
      state.isComplete = notes.isComplete == true
      state.isLost = false
    }
  }

  /// Notes that the server no longer keeps the upload, so that another request must not ask for it again.
  func noteLost() {
    state.withLock { $0.isLost = true }
  }

  /// Writes and reports the newest state, if that is needed.
  ///
  /// - Throws: if the state can't be written: a step that can't be noted isn't taken.
  func write() throws(TransferError) {
    try writing.withLock { _ throws(TransferError) in
      let (data, file, last) = state.withLock { state in
        state.isWriting = false
        return (state.needsWriting ? state.data : nil, state.file, state.last)
      }
      guard let data else { return }
      if last == nil { try file?.begin(data) } else { try file?.append(data) }
      report?(data)
      state.withLock { $0.last = data }
    }
  }

  /// Whether the caller must now write the newest state, which the server has just changed.
  func takeUpWriting() -> Bool {
    state.withLock { state in
      guard report != nil || state.file != nil, !state.isWriting, state.needsWriting else { return false }
      state.isWriting = true
      return true
    }
  }

  /// Whether something was written or reported that still counts.
  var isNoted: Bool { state.withLock { $0.last != nil } }

  /// Whether there is a file.
  var hasFile: Bool { state.withLock { $0.file != nil } }

  /// Whether anything is written or reported.
  var writes: Bool { report != nil || state.withLock { $0.file != nil } }

  /// Ends the upload, and closes the file. Returns the data if another request can continue the upload. The file is removed
  /// otherwise.
  func end(_ verdict: AttemptDecision.Verdict, _ status: Int?) -> UploadResumeData? {
    writing.withLock { _ in
      let state = state.withLock { state in
        if state.isLost {
          state.data?.note(nil)
          state.data?.mostSent = 0
        }
        return state
      }
      defer { state.file?.close() }
      guard let data = state.data else { return nil }
      guard state.isKept(after: verdict, status) else {
        state.file?.remove()
        return nil
      }
      // If the disk has no room for that, what was written before counts, which is still true: it says that all may be sent.
      if state.last != nil { try? state.file?.append(data) }
      return data
    }
  }
}

extension UploadKeeper.State {
  /// Whether another request can continue the upload.
  fileprivate func isKept(after verdict: AttemptDecision.Verdict, _ status: Int?) -> Bool {
    guard let data else { return false }
    switch verdict.outcome {
    case .ok, .sourceChanged: return false
    case .retryable, .unknown, .cancelled: return data.uploadURL != nil || data.isInDoubt
    // New credentials help, unless the complete upload was refused. Other refusals are for good.
    case .failed:
      return data.uploadURL != nil && !isComplete && verdict.error?.code != .resumptionFailed
        && [nil, 401, 403, 407].contains(status)
    }
  }
}

extension UploadResumeData {
  fileprivate mutating func note(_ resource: UploadResource?) {
    guard let resource else {
      (uploadURL, confirmed) = (nil, 0)
      return
    }
    (uploadURL, confirmed) = (resource.url.absoluteString, resource.confirmed)
  }

  fileprivate mutating func note(_ history: AttemptHistory) {
    isInDoubt = history.doubt != .none
    isInDoubtBefore = history.doubtBeforeUpload != .none
  }
}
