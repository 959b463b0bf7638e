import FormStreamMultipart
import FormStreamDigest

/// The totals of a request's attempts so far, and the last response.
struct AttemptHistory: Sendable {
  /// The number of attempts at the current URL, and when the request was started.
  private(set) var loop: RetryLoop
  /// How often the request was sent, including redirects that repeat it.
  private(set) var attempts = 0
  private(set) var redirects = 0
  /// Whether all attempts sent the idempotency key, if the request has one.
  private(set) var sendsKey = true
  /// Whether an attempt may have been carried out.
  private(set) var doubt = Doubt.none
  /// Whether an attempt before the current upload may have been carried out.
  private(set) var doubtBeforeUpload = Doubt.none
  private(set) var response: TransferResponse?
  /// The target that the program chose for the response; nil if it chose none.
  var chosenTarget: ResponseTarget?
  /// Whether the response's body was held back from the caller's target, because another response was expected.
  private var isResponseHeld = false
  /// Why a held response is incomplete; nil if the response is complete, or was only cut at the limit for held responses.
  private(set) var heldFailure: TransferError?
  private(set) var framing = TransferResult.Framing.noBody
  private(set) var bytesSent: Int64 = 0
  private(set) var totalBytesSent: Int64 = 0
  private(set) var sha256: SHA256Digest?
  /// Whether the platform's check trusted the server's certificates in the last attempt; nil without encryption.
  private(set) var isServerVerified: Bool?
  /// The network metrics of the last attempt; nil if no attempt was made.
  private(set) var metrics: TransferMetrics?
  /// How many connections were made.
  private(set) var newConnections = 0
  /// How often the program had to decide on a server's certificates.
  private(set) var trustQuestions = 0
  /// Whether a server that keeps the upload was tried for as long as the policy's patience allows.
  private(set) var isOutOfPatience = false
  private var body: BodyLayout?
  private var hasBegunBody = false

  init(_ loop: RetryLoop) {
    self.loop = loop
  }

  /// Notes the body that all attempts send.
  mutating func begin(_ body: BodyLayout?) {
    self.body = body
  }

  /// Whether the body can be read only once, and reading may have begun.
  var hasUsedOneShot: Bool {
    body?.isReplayable == false && (totalBytesSent > 0 || hasBegunBody)
  }

  /// The announced length of the body; nil if none was announced.
  var announcedLength: Int64? {
    body == nil ? (framing == .noBody ? nil : 0) : body?.contentLength
  }

  /// Notes whether the last attempt may have been carried out.
  mutating func note(_ doubt: Doubt) {
    self.doubt = max(self.doubt, doubt)
  }

  /// Notes that an earlier process may have sent the complete request.
  ///
  /// - Parameter isBeforeUpload: whether it may have done so before it began the current upload.
  mutating func noteDoubtOfEarlierProcess(isBeforeUpload: Bool) {
    doubt = .open
    if isBeforeUpload { doubtBeforeUpload = .open }
  }

  /// Notes whether a server knows what was sent by the idempotency key.
  mutating func noteSent(withKey isKeyed: Bool) {
    sendsKey = sendsKey && isKeyed
  }

  mutating func note(_ result: ExchangeResult) {
    let count = max(result.requestCount, 1)
    attempts += count
    loop.tries += count
    response = result.response
    chosenTarget = result.chosenTarget
    isResponseHeld = result.isHeld
    heldFailure = result.isHeld && result.response != nil ? result.facts.failure : nil
    framing = result.framing
    bytesSent = result.handedOver
    totalBytesSent += result.handedOver - result.start
    sha256 = result.sha256
    isServerVerified = result.isServerVerified
    metrics = result.metrics
    if !result.metrics.isConnectionReused { newConnections += 1 }
    if result.trustQuestion != nil { trustQuestions += 1 }
    if result.hasBegunBody { hasBegunBody = true }
  }

  /// Marks the URL of an upload as a secret in the last response. It stays the response's own URL for who asks for it.
  ///
  /// - Parameter hidesAny: whether any location in the response may be that of an upload.
  mutating func hideUpload(at upload: HTTPURL?, hidesAny: Bool) {
    guard let location = response?.headers["Location"], let url = response?.url,
      hidesAny || upload != nil && (try? url.resolving(location))?.absoluteString == upload?.absoluteString
    else { return }
    response = response?.hidingLocation(location)
  }

  /// Notes a question about an upload. The response to it is not the response to the request.
  mutating func noteQuestion(_ result: ExchangeResult) {
    loop.tries += max(result.requestCount, 1)
    metrics = result.metrics
    isServerVerified = result.isServerVerified
    if !result.metrics.isConnectionReused { newConnections += 1 }
    if result.trustQuestion != nil { trustQuestions += 1 }
  }

  /// Notes that the server has answered that question.
  ///
  /// - Parameters:
  ///   - hasMore: whether it has received more of the upload than it had confirmed before. Attempts are then counted anew.
  ///   - isIncomplete: whether it lacks bytes, so that it can't have carried out this upload.
  mutating func noteOffset(hasMore: Bool, isIncomplete: Bool) {
    if hasMore { loop.noteProgress() } else { loop.tries -= 1 }
    if isIncomplete { doubt = doubtBeforeUpload }
  }

  /// Notes that the last attempt was the first of an upload. What the server says about this upload says nothing about the
  /// attempts before it.
  mutating func noteNewUpload() {
    doubtBeforeUpload = doubt
  }

  /// Notes the response to a question about an upload, if it is the last one: it says that the upload is complete.
  mutating func noteAnswer(_ result: ExchangeResult) {
    response = result.response
  }

  /// Notes that a question about an upload was in vain. It counts as an attempt, so that attempts can be told apart.
  mutating func noteFailedQuestion() {
    attempts += 1
  }

  /// Notes that an upload goes on after a request that was successful, and is only a step of the attempt.
  ///
  /// - Parameter hasMore: whether the server has received more than ever before. Attempts are then counted anew.
  mutating func noteStep(hasMore: Bool) {
    attempts = max(attempts - 1, 0)
    if hasMore { loop.noteProgress() } else { loop.tries -= 1 }
  }

  /// Notes that the last attempt didn't reach the server, which keeps the upload, or was refused for now.
  mutating func noteOutage(_ result: ExchangeResult) {
    loop.noteOutage(insteadOf: max(result.requestCount, 1))
  }

  /// Notes that the last attempt counts as a try, and not under the policy's patience.
  ///
  /// The answer to a question alone doesn't end an outage: a server that answers each question and takes no piece would be tried for
  /// ever.
  mutating func endOutage() {
    loop.endOutage()
  }

  /// Notes that no other attempt follows in an outage.
  mutating func noteEndOfPatience() {
    isOutOfPatience = true
  }

  /// Notes that the last attempt doesn't count as a try: it is repeated without `Expect: 100-continue`, or with
  /// credentials.
  mutating func noteRepetition() {
    loop.tries -= 1
  }

  /// Notes that the last attempt doesn't count: the server has not processed the request.
  mutating func noteNotLookedAt() {
    attempts -= 1
    loop.tries -= 1
  }

  /// - Parameter sendsKey: whether the request to the new URL has the idempotency key.
  mutating func noteRedirect(sendsKey: Bool) {
    noteSent(withKey: sendsKey)
    redirects += 1
    loop.tries = 0
  }

  /// Replaces the response with the page that the response named.
  mutating func replaceResponse(with page: TransferResponse, redirects: Int) {
    response = page
    self.redirects = redirects
    (isResponseHeld, heldFailure) = (false, nil)
  }

  /// The head of a held response; nil if no response is held.
  var heldHead: TransferResponse? { isResponseHeld ? response?.withoutBody : nil }

  /// Shortens a held response to the limit of its target.
  mutating func limitHeldResponse(to limit: Int) {
    guard isResponseHeld, let held = response, held.body.count > limit else { return }
    response = held.keeping(limit)
  }

  /// Returns a held response, which is now known to be the last response, and keeps only its head. Returns nil if nothing has
  /// to be delivered to the caller's target.
  mutating func takeHeldResponse(following options: TransferOptions) -> TransferResponse? {
    guard isResponseHeld, let held = response, !options.keepsInMemory(held.status) else {
      return nil
    }
    isResponseHeld = false
    response = held.withoutBody
    return held
  }

  /// Notes that the body of a held response did not reach the caller's target.
  mutating func noteResponseNotDelivered() {
    response?.isTruncated = true
  }
}
