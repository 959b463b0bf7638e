import FormStream

/// The request that one exchange sends, and the settings that it follows.
struct WireRequest: Sendable {
  var method: HTTPMethod
  var url: HTTPURL
  var headers: HTTPHeaders
  /// The body; nil if there is none.
  var body: BodyLayout?
  /// Whether the head announces a body; if `body` is nil, an empty one.
  var announcesBody: Bool
  /// How long `Expect: 100-continue` waits for a response; nil if the body is sent at once.
  var expectTimeout: Duration?
  /// Whether an idle connection may be used.
  var usesIdleConnection: Bool
  var options: TransferOptions
  var configuration: TransferSession.Configuration
  /// Decides, when a response's head arrives, whether its body goes to the caller's target.
  var isFinal: @Sendable (_ status: Int, _ headers: HTTPHeaders) -> Bool

  /// The length of the body; nil if it can't be known.
  var bodyLength: Int64? { body == nil ? 0 : body?.contentLength }

  /// The most bytes that are read at once: at a limited rate, what is sent in an eighth of a second.
  var maximumPiece: Int {
    options.maximumRate.map { Int(clamping: max($0 / 8, 1)) } ?? .max
  }

  /// How long libcurl pauses after the largest piece to keep to the rate.
  var pauseBetweenPieces: Duration {
    options.maximumRate.map { .seconds(Double(maximumPiece) / Double(max($0, 1))) } ?? .zero
  }

  var isEncrypted: Bool { url.origin.scheme == "https" }

  /// Whether HTTP/2 is spoken without asking the server for it.
  var hasPriorKnowledge: Bool { configuration.version == .http2 && !isEncrypted }

  var mayBeHTTP2: Bool {
    configuration.version == .http2 || configuration.version == .automatic && isEncrypted
  }
}
