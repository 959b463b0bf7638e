import FormStreamMultipart
import FormStreamDigest

/// The request that one exchange sends, and its settings. It is a class, so that nothing is copied when the settings are looked
/// at. It doesn't change once the exchange has it.
final class WireRequest {
  /// The attempt that this request makes.
  let attempt: NextAttempt
  /// All headers, including headers that depend on the settings and on the credentials.
  let headers: HTTPHeaders
  /// How long `Expect: 100-continue` waits for a response; nil if the body is sent at once.
  let expectTimeout: Duration?
  /// Whether the body is sent only after the server responds 100 to `Expect: 100-continue`.
  var requiresContinue = false
  /// How long the attempt has waited already.
  var waited = Duration.zero
  private let sharedConfiguration: Shared<TransferSession.Configuration>
  /// Whether the request asks for HTTP/1.1 because of its body, although the settings allow HTTP/2.
  let prefersHTTP11: Bool
  /// The proxy that the request goes through; nil if it goes directly to its server.
  var proxy: Proxy?
  /// The program's decisions on the server's certificates; nil if the platform's check decides.
  var serverTrust: ServerTrustDecisions?
  /// The session's cookies; nil if the session keeps none.
  var cookieJar: CookieJar?
  /// The session. It is needed if the program starts requests while this request waits for the program.
  var session: ObjectIdentifier?
  /// The request's wait for the bytes of its body; nil if the program's code doesn't produce the bytes.
  var bodyWait: WaitingRequest?
  /// The activity of the request's connection; nil if connections are not counted.
  var activity: ConnectionActivity?
  /// Whether the request uses a connection beyond the maximum.
  var needsExtraConnection = false
  /// Chooses the target of the last response, given its head; nil if the program is not asked.
  var chooseTarget: (@Sendable (TransferResponse) async throws -> ResponseTarget?)?
  /// Called whenever an interim response says something new about the upload.
  var noteUpload: (@Sendable (UploadNotes) -> Void)?
  /// Decides from the head of a response whether its body goes to the caller's target.
  let isFinal: @Sendable (ArrivedHead) -> Bool

  init(
    _ attempt: NextAttempt, headers: HTTPHeaders, expectTimeout: Duration?,
    _ configuration: Shared<TransferSession.Configuration>, prefersHTTP11: Bool,
    isFinal: @escaping @Sendable (ArrivedHead) -> Bool
  ) {
    self.attempt = attempt
    self.headers = headers
    self.expectTimeout = expectTimeout
    sharedConfiguration = configuration
    self.prefersHTTP11 = prefersHTTP11
    self.isFinal = isFinal
  }

  var method: HTTPMethod { attempt.method }
  var url: HTTPURL { attempt.url }
  /// The body; nil if there is none.
  var body: BodyLayout? { attempt.sendsBody ? attempt.body : nil }
  /// The digest of the body that the head announces; nil if it announces none.
  var announcedDigest: SHA256Digest? { attempt.sendsBody ? attempt.digest : nil }
  /// Whether the head announces a body. If `body` is nil, the announced body is empty.
  var announcesBody: Bool { attempt.announcesBody }
  /// Whether the result has the digest of the body.
  var computesDigest: Bool { attempt.sendsBody && options.computesDigest }
  /// The session's settings, but with the version that this request asks for.
  var configuration: TransferSession.Configuration { sharedConfiguration.value }
  var options: TransferOptions { attempt.request.options }

  /// The offset in the body from which on it is sent.
  var bodyStart: Int64 { attempt.bodyStart }

  /// The offset in the body up to which it is sent; nil if its length can't be known.
  var bodyEnd: Int64? { body == nil ? 0 : attempt.bodyEnd }

  /// Whether the body ends with the bytes that are sent.
  var isLastPiece: Bool { bodyEnd == body?.contentLength }

  /// How many bytes are sent; nil if that can't be known.
  var bodyLength: Int64? { bodyEnd.map { max($0 - bodyStart, 0) } }

  /// Whether the body is a piece of an upload that the server keeps.
  var isPieceOfUpload: Bool { attempt.step.isAppending }

  /// Whether the responses may say something about an upload that can go on.
  var mayResume: Bool { attempt.mayResume }

  /// The most bytes that are read at once. At a limited rate, these are the bytes of an eighth of a second.
  var maximumPiece: Int {
    options.maximumRate.map { Int(clamping: max($0 / 8, 1)) } ?? .max
  }

  /// How long libcurl pauses after the largest piece to keep to the rate.
  var pauseBetweenPieces: Duration {
    options.maximumRate.map { .seconds(Double(maximumPiece) / Double(max($0, 1))) } ?? .zero
  }

  /// Where the request goes, as far as the session's cookies depend on it.
  var cookiePlace: CookiePlace {
    let isDiverted = testSocket == nil && (proxy != nil || configuration.diverts(url.origin))
    return CookiePlace(url, hostHeader: headers["Host"], isDiverted: isDiverted)
  }

  /// The value of the `Cookie` header if the session keeps cookies; nil if there is none, or if the session keeps none. The
  /// request's own cookies are in it.
  ///
  /// RFC 6265bis §5.8.1: "the user agent MUST NOT attach more than one Cookie header field".
  var cookieLine: [UInt8]? {
    guard let cookieJar else { return nil }
    let own = headers.fields.filter { $0.name.isSameHeaderName(as: "Cookie") }.map(\.bytes)
    return cookieJar.line(to: cookiePlace, own: own.isEmpty ? nil : Array(own.joined(separator: "; ".utf8)))
  }

  var isEncrypted: Bool { url.origin.scheme == "https" && testSocket == nil }

  /// The abstract name of the socket to which the request goes in a test; nil if it goes to its host.
  var testSocket: String? { configuration.testServer?.socketName(for: url.origin.scheme) }

  /// Whether HTTP/2 is used without asking the server first.
  var hasPriorKnowledge: Bool { configuration.version == .http2 && !isEncrypted }

  /// Whether libcurl may send the request twice if a kept connection ends: the method is safe, and there is no body.
  var mayBeSentAgainByLibcurl: Bool { method.isSafe && !announcesBody }

  var mayBeHTTP2: Bool {
    configuration.version == .http2 || configuration.version == .automatic && isEncrypted
  }

  /// Whether a response only refuses HTTP/1.1, so that the request is sent again over HTTP/2.
  ///
  /// RFC 9110 §15.5.22: a server that responds 426 "refuses to perform the request using the current protocol", and names
  /// another protocol in `Upgrade`. §15.6.6: 505 is for a version that the server doesn't support.
  func isVersionRefused(by status: Int, _ headers: HTTPHeaders) -> Bool {
    guard prefersHTTP11, body?.isReplayable == true else { return false }
    return status == 505 || status == 426 && (headers["Upgrade"].map(\.namesHTTP2) ?? true)
  }
}

extension String {
  fileprivate var namesHTTP2: Bool {
    split { $0 == "," || $0 == " " }.contains {
      ["h2", "http/2", "http/2.0"].contains($0.lowercased())
    }
  }
}
