import FormStreamMultipart
import FormStreamDigest

/// The longest body that is sent over HTTP/2, if the version is chosen automatically.
///
/// A client may send this many bytes of a body before the server allows more (RFC 9113 §6.9.2). nginx and HAProxy accept only
/// this many bytes in each round trip. If a round trip takes 50 ms, the rate is 1.3 MB/s: a hundredth of the rate of HTTP/1.1.
package let longestHTTP2Body: Int64 = 64 * 1024

/// What the next attempt sends.
struct NextAttempt: Sendable {
  private enum DemandedVersion { case http11, http2 }

  private let sharedRequest: Shared<TransferRequest>
  private(set) var method: HTTPMethod
  private(set) var url: HTTPURL
  private(set) var body: BodyLayout?
  /// The digest of the body that the headers announce; nil if the headers announce no digest.
  let digest: SHA256Digest?
  /// Whether the server accepts the body only if its length is announced.
  private(set) var needsLength = false
  /// The request's headers, and the headers that are derived from its settings and its body.
  let headers: HTTPHeaders
  /// The method of the request, whatever the attempt itself asks: the request's own one, or the one that the program chose for a
  /// redirect.
  private var requestMethod: HTTPMethod
  /// The headers that the program chose for a redirect; nil if it chose none.
  private(set) var chosenHeaders: ChosenHeaders?
  /// What the attempt sends to authenticate itself.
  var authorization = Authorization(credentials: nil)
  /// The credentials that the program gave for this request; they replace the request's own credentials.
  private(set) var givenCredentials: Credentials?
  /// How often credentials were refused.
  private(set) var refusals = 0
  /// How often the request was sent again with credentials.
  private(set) var authentications = 0
  /// Whether the request's own headers are sent; they are not sent to another origin.
  private(set) var sendsOwnHeaders = true
  /// Whether an idle connection may be used.
  private(set) var usesIdleConnection = true
  /// The version of HTTP that the server demands; nil if the server demands none.
  private var demandedVersion: DemandedVersion?
  /// Whether `Expect: 100-continue` may be sent; false after the server rejected the header.
  private(set) var mayExpect = true
  /// Whether a redirect was followed.
  private var isRedirected = false
  /// What the attempt asks of the server.
  private(set) var step = AttemptStep.request
  /// Where the server keeps the unfinished upload; nil if it keeps none.
  private(set) var resource: UploadResource?
  /// The most bytes that the server has confirmed, of this upload or of one that it has lost since.
  private var furthest: Int64 = 0
  /// The digest of the bytes that earlier attempts have read; nil if there is none.
  private var bodyDigest: BodyDigest?
  /// Where the request itself is sent, while `url` is the resource of the unfinished upload.
  private var requestPlace: (url: HTTPURL, isRedirected: Bool, sendsOwnHeaders: Bool, chosenHeaders: ChosenHeaders?)?
  /// The most bytes that one request may append, as the server has said before it named the upload; nil if it names no limit.
  private var largestPiece: Int64?
  /// Whether an earlier process has sent the upload with another idempotency key, or without one.
  private var continuesWithOtherKey = false
  /// How the upload begins.
  private(set) var start = UploadStart.request

  /// - Parameters:
  ///   - url: the request's URL with its query appended.
  ///   - headers: the request's headers, and the headers that are derived from its settings and its body.
  ///   - digest: the digest of the body, if the headers announce it.
  init(
    _ request: Shared<TransferRequest>, to url: HTTPURL, headers: HTTPHeaders, body: BodyLayout?,
    digest: SHA256Digest?
  ) {
    sharedRequest = request
    self.url = url
    self.headers = headers
    self.body = body
    self.digest = digest
    (method, requestMethod) = (request.value.method, request.value.method)
    switch request.value.options.resumption.way {
    case _ where !mayResume: break
    case .none, .http: break
    case .automatic: (method, step) = (.options, .options)
    case .httpCreatedFirst: begin(.creation(.http))
    case .tus: begin(.creation(.tus))
    }
  }

  var request: TransferRequest { sharedRequest.value }

  /// Whether the page that a 303 named is fetched.
  var isPage: Bool { step == .page }

  var sendsBody: Bool { body != nil && (step == .request || step.isAppending) }

  /// The offset in the body from which on it is sent.
  var bodyStart: Int64 { if case .append(let offset, _) = step { offset } else { 0 } }

  /// The offset in the body up to which it is sent; nil if its length can't be known.
  var bodyEnd: Int64? { if case .append(_, let end) = step { end } else { body?.contentLength } }

  /// Whether the upload may go on where it broke, if the server keeps it.
  var mayResume: Bool {
    let way = request.options.resumption.way
    guard way != .none, let body, step != .page, body.isReplayable, let length = body.contentLength
    else { return false }
    // By tus, an empty upload is created, too, and it may have metadata.
    return length > 0 || way == .tus || way == .automatic && !request.options.resumption.metadata.isEmpty
  }

  /// The protocol by which the upload goes on.
  var uploadProtocol: UploadProtocol {
    if case .creation(let uploadProtocol) = start { uploadProtocol } else { .http }
  }

  /// RFC 9110 §8.6: "A user agent SHOULD send Content-Length in a request when the method defines a meaning
  /// for enclosed content and it is not sending Transfer-Encoding", even if it is 0.
  var announcesBody: Bool {
    sendsBody
      || (step == .request || step == .creation)
        && ["POST", "PUT", "PATCH"].contains(method.description)
  }

  /// The attempt, for `Attempt.decision(on:)`.
  func attempt(
    tries: Int, redirects: Int, hasUsedOneShot: Bool, earlierDoubt: Doubt,
    asksForCredentials: Bool, isPassedOn: Bool
  ) -> Attempt {
    var attempt = Attempt(
      isPage ? method : requestMethod, url,
      changesSomething: sendsBody || !method.isSafe, step: step,
      bodyLength: body?.contentLength, missingLength: missingLength,
      hasUsedOneShot: hasUsedOneShot, tries: tries, redirects: redirects,
      earlierDoubt: earlierDoubt,
      mayAuthenticate: authentications < Self.maximumAuthentications
        && (authorization.credentials?.waitsForChallenge == true || asksForCredentials),
      sentScheme: authorization.scheme, isPassedOn: isPassedOn,
      mayResume: mayResume, resource: resource, uploadProtocol: uploadProtocol,
      createsUpload: !isToGivenUpload, options: request.sharedOptions)
    // A server that doesn't get the key may carry out the request twice.
    if !isKeyed { attempt.options.idempotencyKey = nil }
    return attempt
  }

  /// Whether the server knows the request by its idempotency key, if it has one.
  var isKeyed: Bool { sendsOwnHeaders && !continuesWithOtherKey }

  /// Whether the body is sent in chunks, as its length can't be known.
  var sendsChunks: Bool { missingLength != nil }

  private var missingLength: MissingLength? {
    guard sendsBody, let body, body.contentLength == nil else { return nil }
    return body.isReplayable ? .measurable : .oneShot
  }

  /// The text that the request line has in place of the URL's path and query; nil if the request line has the path and the
  /// query.
  var target: String? { isRedirected ? nil : request.options.requestTarget }

  /// - Parameter refusesHTTP11: whether the server is known to refuse HTTP/1.1.
  func wireRequest(
    expectTimeout: Duration?, configuration: Shared<TransferSession.Configuration>,
    refusesHTTP11: Bool, isFinal: @escaping @Sendable (ArrivedHead) -> Bool
  ) -> WireRequest {
    var version = configuration.value.version.resolved(for: url.origin.scheme)
    let prefersHTTP11 = prefersHTTP11(version) && !refusesHTTP11
    if prefersHTTP11 || demandedVersion == .http11 { version = .http11 }
    var configuration = configuration
    if version != configuration.value.version || !sendsOwnHeaders {
      var changed = configuration.value
      changed.version = version
      // libcurl doesn't reuse a connection that was made with the certificate, because the settings differ.
      if !sendsOwnHeaders { changed.tls.withholdCertificate() }
      configuration = Shared(changed)
    }
    return WireRequest(
      self, headers: sentHeaders(userAgent: configuration.value.userAgent),
      expectTimeout: expectTimeout, configuration, prefersHTTP11: prefersHTTP11, isFinal: isFinal)
  }

  /// Whether the body is the reason to ask for HTTP/1.1, although the settings allow HTTP/2.
  private func prefersHTTP11(_ version: TransferSession.Configuration.Version) -> Bool {
    guard version == .automatic, url.origin.scheme == "https", demandedVersion == nil, sendsBody
    else { return false }
    return body?.contentLength.map { $0 > longestHTTP2Body } ?? true
  }

  /// Whether other requests may use this attempt's connection at the same time, if the connection speaks HTTP/2.
  func mayShareConnection(
    over version: TransferSession.Configuration.Version, refusesHTTP11: Bool
  ) -> Bool {
    usesIdleConnection && version != .http11 && demandedVersion != .http11
      && (refusesHTTP11 || !prefersHTTP11(version))
  }

  // MARK: Credentials

  /// How often a request is sent again with other credentials.
  private static let maximumAuthentications = 5

  /// Whether an `Authorization` header is sent as it is: the caller's own one, the session's, or one that the program chose for a
  /// redirect.
  var sendsOwnAuthorization: Bool {
    givenCredentials == nil && requestHeaders.contains("Authorization")
  }

  /// Whether credentials that the program gave for earlier requests come before the attempt's own. They come before the session's
  /// header, which was refused when they were asked for, but not before what the caller or the program chose for this request.
  var prefersAnsweredCredentials: Bool {
    let own = requestHeaders.authorization
    guard own.isEmpty else { return own == request.options.authorizationOfSession }
    return chosenHeaders?.isWithoutCredentials != true
  }

  /// The request's own credentials, or the credentials for its host in a netrc file.
  func ownCredentials(_ netrc: Netrc?) -> Credentials? {
    // Whoever takes the credentials out of the headers doesn't want others to be sent in their place.
    if chosenHeaders?.isWithoutCredentials == true { return nil }
    if sendsOwnHeaders { return request.ownCredentials(netrc) }
    return netrc?.credentials(for: url.origin.host)
  }

  /// Notes a 401. Returns whether the credentials that wait for a challenge can answer the 401.
  mutating func answer(_ offers: [OfferedScheme], _ spaces: ProtectionSpaces) -> Bool {
    if authorization.header != nil || sendsOwnAuthorization { refusals += 1 }
    guard authorization.answers(offers, spaces, at: url) else { return false }
    authentications += 1
    return true
  }

  /// Uses other credentials after a 401. Returns false if these credentials were just refused, or can't answer the 401.
  mutating func use(
    _ credentials: Credentials, for offers: [OfferedScheme], _ spaces: ProtectionSpaces
  ) -> Bool {
    guard credentials != authorization.credentials else { return false }
    givenCredentials = credentials
    authorization = Authorization(credentials: credentials)
    guard !credentials.waitsForChallenge || authorization.answers(offers, spaces, at: url) else {
      return false
    }
    authentications += 1
    return true
  }

  // MARK: Changes between attempts

  /// Sends the request again after a failure. The repetition uses a new connection, because an idle connection may have caused
  /// the failure.
  mutating func retry() {
    // A response to the rest of an upload is about the complete request, which is sent again from its start.
    if step.isAppending { beginAgain() }
    usesIdleConnection = false
  }

  /// Sends the request again at once, without `Expect: 100-continue`.
  mutating func repeatWithoutExpect() {
    mayExpect = false
  }

  /// Sends the request again at once, with a `Content-Length`.
  mutating func repeatWithLength() {
    needsLength = true
  }

  /// Sends the same body with its length, which is known now.
  mutating func announceLength(of body: BodyLayout) {
    self.body = body
  }

  /// Sends the request again at once, because the server has not processed it.
  mutating func repeatAtOnce(_ repetition: ImmediateRepeat) {
    usesIdleConnection = false
    switch repetition {
    case .onNewConnection, .afterLoss: break
    case .overHTTP2: demandedVersion = .http2
    }
  }

  /// Sends the request again at once, with HTTP/1.1.
  mutating func repeatOverHTTP11() {
    usesIdleConnection = false
    demandedVersion = .http11
  }

  /// Sends the request to another URL.
  mutating func follow(_ target: HTTPURL) {
    if target.origin != url.origin { (sendsOwnHeaders, chosenHeaders) = (false, nil) }
    if target.origin != url.origin { (givenCredentials, refusals) = (nil, 0) }
    (url, isRedirected) = (target, true)
    (usesIdleConnection, demandedVersion, mayExpect) = (true, nil, true)
  }

  /// Gets the page that a 303 named.
  mutating func fetchPage(_ target: HTTPURL) {
    follow(target)
    method = .get
    step = .page
  }

  /// Sends what the program chose for the redirect that was followed last.
  mutating func use(_ change: RedirectChoice.Change) {
    let (old, new) = (changeableHeaders.authorization, change.headers.authorization)
    // Other credentials than the ones that were shown are a choice; the same ones may have been replaced after a 401.
    if old != new { (givenCredentials, refusals) = (nil, 0) }
    let wasWithout = chosenHeaders?.isWithoutCredentials == true
    chosenHeaders = ChosenHeaders(
      headers: change.headers, isWithoutCredentials: new.isEmpty && (wasWithout || !old.isEmpty))
    method = change.method ?? method
    if step == .request { requestMethod = method }
  }
}

// MARK: An upload that goes on

extension NextAttempt {
  /// The digest of the bytes before those that this attempt sends; nil if there is none.
  var digestOfStart: BodyDigest? { step.isAppending ? bodyDigest : nil }

  /// Whether this attempt may create an upload.
  var beginsUpload: Bool { step == .request || step == .creation }

  /// Notes what the last attempt has shown about the unfinished upload.
  ///
  /// - Parameter url: where the server keeps the upload; nil if the upload can't go on.
  mutating func note(_ result: ExchangeResult, at url: HTTPURL?) {
    guard mayResume else { return }
    largestPiece = result.facts.upload.largestPiece ?? largestPiece
    // A request that is sent from its start has nothing to do with the upload of an earlier one.
    if beginsUpload { resource = url.map { UploadResource($0) } }
    resource?.note(result.facts.upload, read: result.read)
    noteLength(result)
    if !step.isAboutUpload { bodyDigest = result.bodyDigest }
  }

  /// Notes whether the server must be told the length of a tus upload.
  private mutating func noteLength(_ result: ExchangeResult) {
    guard uploadProtocol == .tus, let status = result.response?.status, (200...299).contains(status) else { return }
    switch step {
    case .offset:
      let isGiven = isToGivenUpload
      resource?.lacksLength = result.facts.upload.lacksLength(isGiven: isGiven)
    // tus: "Once set it MUST NOT be changed."
    case .append: resource?.lacksLength = false
    case .request, .page, .options, .creation: break
    }
  }

  /// Whether the request is to an upload that was created before: tus creates uploads by POST only, so a PUT by tus is.
  private var isToGivenUpload: Bool { start == .creation(.tus) && request.method == .put }

  /// Begins the upload.
  mutating func begin(_ start: UploadStart) {
    self.start = start
    if isToGivenUpload {
      resource = resource ?? UploadResource(url)
      (method, step) = (.head, .offset)
      return
    }
    switch start {
    case .request: (method, step) = (requestMethod, .request)
    case .creation: (method, step) = (requestMethod, .creation)
    }
  }

  /// Asks how much of the unfinished upload the server has.
  mutating func askForOffset(at target: HTTPURL) {
    goToUpload(at: target)
    usesIdleConnection = false
    (method, step) = (.head, .offset)
  }

  /// Goes on with an upload of another process.
  mutating func goOn(with known: UploadResource, by uploadProtocol: UploadProtocol) {
    start = .creation(uploadProtocol)
    (resource, furthest) = (known, known.confirmed)
    askForOffset(at: known.url)
  }

  /// Notes that an earlier process has sent bytes of the request with another idempotency key, or without one.
  mutating func noteOtherKey() {
    continuesWithOtherKey = true
  }

  private mutating func goToUpload(at target: HTTPURL) {
    if requestPlace == nil { requestPlace = (url, isRedirected, sendsOwnHeaders, chosenHeaders) }
    follow(target)
  }

  /// Sends the next piece of the unfinished upload. Returns whether the server has received more than ever before. A server that
  /// loses what it has received again and again makes no progress.
  mutating func append(from offset: Int64) -> Bool {
    if step == .creation, let resource {
      goToUpload(at: resource.url)
    } else {
      // A redirect may have led to another place.
      resource?.url = url
    }
    let confirmed = resource?.confirmed ?? 0
    resource?.confirmed = max(offset, confirmed)
    let hasMore = offset > furthest
    furthest = max(offset, furthest)
    (method, step) = (.patch, .append(from: offset, to: end(ofPieceFrom: offset)))
    return hasMore
  }

  private func end(ofPieceFrom offset: Int64) -> Int64 {
    let rest = (body?.contentLength ?? offset) - offset
    let limits = [request.options.resumption.pieceSize, resource?.largestPiece ?? largestPiece].compactMap(\.self)
    return offset + min(rest, limits.map { max($0, 1) }.min() ?? rest)
  }

  /// Sends the request from its start.
  mutating func beginAgain() {
    if let place = requestPlace {
      (url, isRedirected, sendsOwnHeaders, chosenHeaders) = place
    }
    (requestPlace, resource) = (nil, nil)
    (usesIdleConnection, demandedVersion) = (false, nil)
    begin(start)
  }
}
