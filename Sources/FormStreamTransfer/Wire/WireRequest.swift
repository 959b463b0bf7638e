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

  var isEncrypted: Bool { url.origin.scheme == "https" }

  var mayBeHTTP2: Bool {
    configuration.version == .http2 || configuration.version == .automatic && isEncrypted
  }
}
