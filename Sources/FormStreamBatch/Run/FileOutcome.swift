import FormStreamDigest
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamHTTP
import FormStreamPlatform

/// What became of a file so far, in all its requests.
struct FileOutcome {
  let file: BatchFile
  var maybeDuplicate: Bool
  private(set) var state = BatchState.failed
  /// Whether the file is missing or can't be read, or a file that TLS needs can't be used.
  private(set) var isUnreadable = false
  private var type: SniffedType?
  private var digest: SHA256Digest?
  private var identity: FileIdentity?
  private var isAcceptedEarlier = false
  private var last: TransferResult?
  /// The result of the request that should have made the file's folder, if it has failed after the last request for the file.
  private var unmadeFolder: TransferResult?
  private var error: FileFailure?
  private var url: String?
  private var attempts = 0
  private var duration = Duration.zero
  /// When the first request for the file began, in nanoseconds since 1970; nil if none did.
  private var begun: Int64?
  /// Whether one of the requests may have been carried out, and no later request succeeded.
  private var isInDoubt = false
  /// Whether a server has failed with one of the requests, and may have carried it out, although it may be sent again.
  private var hasServerFailed = false
  /// Whether an earlier run may have delivered the file with the same idempotency key.
  private var hasUsedKey: Bool
  /// The idempotency key of the requests that may have been carried out; nil if they had no key, or different keys.
  private var doubtfulKey: IdempotencyKey?
  /// Whether the server may have the file, or some of it.
  private(set) var mayBeStored = false
  /// What the server calls the file; nil if no response was read for it.
  private var value: ResponseValue?
  /// How many files the last request had.
  private var sharers = 1

  /// - Parameter hasUsedKey: whether an earlier run may have delivered the file with the idempotency key that this run sends.
  init(_ file: BatchFile, maybeDuplicate: Bool, hasUsedKey: Bool = false) {
    self.file = file
    (self.maybeDuplicate, self.hasUsedKey) = (maybeDuplicate, hasUsedKey)
  }

  mutating func skip() {
    state = .skipped
    error = FileFailure(
      code: "maybe-duplicate",
      message:
        "The file \(file.path.description.quoted) may have been accepted in an earlier run, so it is not sent."
    )
  }

  mutating func note(_ opened: OpenedBatchFile) {
    (type, digest, identity) = (opened.type, opened.digest, opened.identity)
  }

  /// Notes that an earlier run has delivered the file.
  mutating func noteAcceptedEarlier() { (state, isAcceptedEarlier) = (.skipped, true) }

  /// Notes that the file can't be sent.
  mutating func fail(_ error: BatchError) {
    state =
      switch error.code {
      case _ where isInDoubt || hasServerFailed: .unknown
      case .sourceChanged: .sourceChanged
      case .tooManyOpenFiles: .retryable
      default: .failed
      }
    isUnreadable = state == .failed
    self.error = FileFailure(error)
  }

  /// Notes that no request can be made for the file.
  mutating func fail(anyOf error: any Error) {
    state = .failed
    switch error {
    case let error as MultipartError:
      self.error = FileFailure(code: error.code.rawValue, message: error.message)
      if error.code == .sourceChanged { state = ofChange(of: error.file) }
      if error.isOutOfDescriptors { state = .retryable }
    case let error as BatchError:
      self.error = FileFailure(error)
    default: self.error = FileFailure(code: "request-failed", message: "\(error)")
    }
    if isInDoubt || hasServerFailed { state = .unknown }
  }

  /// Notes that the first request for the file begins.
  mutating func noteBegun() { begun = nanosecondsSince1970() }

  mutating func note(_ url: HTTPURL) {
    self.url = url.description
  }

  /// Adds to the error why no other request is made.
  mutating func note(_ reason: Message) {
    error = error.map { FileFailure(code: $0.code, message: "\($0.message) \(reason)") }
  }

  /// Compares the server's response with the file. If they differ, the file is not accepted, and it is not known what the
  /// server has.
  ///
  /// - Parameter place: the file's place in the request.
  mutating func verify(
    _ check: ResponseCheck, _ response: JSONResponse, at place: Int
  ) {
    guard
      let mismatch = check.mismatch(in: response, at: place, size: file.size, digest: digest)
    else { return }
    state = .failed
    error = FileFailure(
      code: "digest-mismatch",
      message: "The server does not confirm the file \(file.path.description.quoted): \(mismatch).")
  }

  /// Keeps what the server calls the file.
  mutating func keep(_ value: ResponseValue) { self.value = value }

  /// The state after a file has changed. If another file of the form changed, this file can be retried, because the next
  /// request has the current contents of the other file.
  private func ofChange(of changed: LocalPath?) -> BatchState {
    changed.map { $0 == file.path } ?? true ? .sourceChanged : .retryable
  }

  /// Notes that a request may have been carried out, but its outcome is not known.
  private mutating func noteDoubt(about key: IdempotencyKey?) {
    doubtfulKey = isInDoubt && key != doubtfulKey ? nil : key
    (isInDoubt, mayBeStored) = (true, true)
  }

  /// Notes that a request was carried out. If an earlier request may have been carried out and had the same idempotency
  /// key, the server has stored the file only once.
  private mutating func noteSuccess(of key: IdempotencyKey?, isIdempotent: Bool) {
    if isInDoubt, !isIdempotent, key == nil || key != doubtfulKey { maybeDuplicate = true }
    // If another request for the file follows, it sends another slice. A doubt about this slice is not a doubt about the other
    // slice.
    (isInDoubt, hasServerFailed, hasUsedKey, mayBeStored) = (false, false, false, true)
  }

  /// Notes the result of a request.
  ///
  /// - Parameters:
  ///   - sharers: how many files the request had.
  ///   - isIdempotent: whether the request has the same effect if it is carried out twice.
  mutating func note(_ result: TransferResult, sharedBy sharers: Int, isIdempotent: Bool) {
    (last, unmadeFolder) = (result, nil)
    self.sharers = sharers
    attempts += result.attempts
    duration += result.duration
    error = result.error.map { FileFailure(code: $0.code.rawValue, message: $0.message) }
    switch result.outcome {
    case .ok:
      state = .ok
      noteSuccess(of: result.idempotencyKey, isIdempotent: isIdempotent)
    case .unknown:
      state = .unknown
      noteDoubt(about: result.idempotencyKey)
    case .sourceChanged:
      let changed = (result.error?.underlying as? MultipartError)?.file
      state = isInDoubt || hasServerFailed ? .unknown : ofChange(of: changed)
    case .failed where result.isOutOfDescriptors:
      state = isInDoubt ? .unknown : .retryable
      error = error.map {
        FileFailure(code: BatchError.Code.tooManyOpenFiles.rawValue, message: $0.message)
      }
    case .failed: noteRefusal(result)
    // A request with the outcome `cancelled` was not carried out.
    case .retryable, .cancelled: state = isInDoubt ? .unknown : .retryable
    }
    if result.outcome == .retryable, result.mayBeCarriedOut { (hasServerFailed, mayBeStored) = (true, true) }
    let isLocal =
      error?.code == BatchError.Code.inputUnreadable.rawValue
      || result.error?.code == .tlsFileUnusable
    isUnreadable = state == .failed && isLocal
  }

  /// Notes that the last request was refused. A refusal says nothing about the requests before it.
  ///
  /// draft-ietf-httpapi-idempotency-key-header §2.7: 422 "if there is an attempt to reuse an idempotency key with a different request
  /// payload", and 409 "if the request is retried, while the original request is still being processed". Both say that the server
  /// knows the key, and neither says what became of the request that it first came with.
  private mutating func noteRefusal(_ result: TransferResult) {
    guard isInDoubt || hasServerFailed || hasUsedKey && result.idempotencyKey != nil && result.status != nil else {
      state = .failed
      return
    }
    state = .unknown
    mayBeStored = true
    note(isInDoubt || hasServerFailed ? "An earlier request for the file may have been carried out." : Self.earlierRun)
  }

  /// Notes that the server refused the file because its folder is missing, and that the folder could not be made. From here on,
  /// the file's status and response are those of the request that should have made the folder, and the error's code says so.
  mutating func note(unmadeFolder problem: TransferResult) {
    unmadeFolder = problem
    let reason = problem.error?.message ?? "the request was cancelled."
    error = error.map { refusal in
      FileFailure(
        code: BatchError.Code.folderNotMade.rawValue,
        message:
          "\(refusal.message) The folder \(problem.url.description) could not be made: \(reason)\(problem.remedyForFolder)")
    }
    // The server may make the folder, and accept the file, at another try.
    if problem.outcome != .failed, state == .failed { state = .retryable }
  }

  private static let earlierRun: Message =
    "An earlier run has sent the file with the same idempotency key, and may have delivered it."

  /// Notes that the last request was not completed because of another file in it. So the request was not carried out.
  mutating func noteCutShort(by other: LocalPath) {
    state = isInDoubt ? .unknown : .retryable
    isUnreadable = false
    error = FileFailure(
      code: BatchError.Code.requestCutShort.rawValue,
      message:
        "The request was not completed: another of its files, \(other.description.quoted), changed or could not be read."
    )
  }

  /// Notes that the run was stopped before the next slice.
  mutating func noteStop(before slice: FileSlice) {
    state = .retryable
    error = FileFailure(
      code: TransferError.Code.cancelled.rawValue,
      message:
        "The run was stopped after \(slice.index) of \(slice.count) slices of the file \(file.path.description.quoted)."
    )
  }

  /// How many of the file's bytes were certainly sent in the last request. The rest of the body is counted as if it came
  /// before the file.
  var sentBytes: Int64 {
    guard let last else { return 0 }
    let rest = max(0, (last.contentLength ?? 0) - file.size)
    return min(file.size, max(0, last.bytesSent - rest))
  }

  func result(manifest: String?, url: String) -> FileResult {
    // The result of each file of a request repeats the response. So the response is cut: otherwise, the total size of the
    // results would grow with the square of the number of files.
    let responseLimit = max(256, FileResult.Response.limit / max(1, sharers / 16))
    // Another error may have followed that of the folder.
    let deciding = error?.code == BatchError.Code.folderNotMade.rawValue ? unmadeFolder ?? last : last
    return FileResult(
      file: file, manifest: manifest, type: type, sha256: digest, url: self.url ?? url,
      status: deciding?.status, state: state, attempts: attempts, maybeDuplicate: maybeDuplicate,
      bytesSent: last?.bytesSent ?? 0, duration: duration, begun: begun, ended: nanosecondsSince1970(),
      response: deciding?.response.map { response in
        let body = response.headers.decodedBeginning(of: response.body)
        return FileResult.Response(
          body: Array(body.prefix(responseLimit)), isTruncated: response.isTruncated || body.count > responseLimit,
          type: response.headers["Content-Type"])
      }, value: state == .ok ? value : nil, error: error, isAcceptedEarlier: isAcceptedEarlier,
      isStoredPerhaps: hasServerFailed && state == .retryable, identity: identity)
  }
}

extension TransferResult {
  /// What to do if this request should have made a folder, with a blank before it; empty if the error says it.
  fileprivate var remedyForFolder: Message {
    switch (outcome, error?.code, status) {
    case (.failed, .statusRefused, 401), (.failed, .statusRefused, 403):
      " Use credentials that may make folders there, or make it in another way."
    case (.failed, .statusRefused, _): " Make it in another way, or choose another place."
    case (.failed, _, _): ""
    default: error?.description.contains("ry again") == true ? "" : " Send the file again later."
    }
  }
}
