import FormStreamPlatform
import FormStreamDigest

/// The facts at the end of an exchange.
struct ExchangeResult: Sendable {
  /// The facts that decide the next step.
  var facts: AttemptFacts
  /// The response; nil if its head didn't arrive completely.
  var response: TransferResponse?
  /// Whether the response's body was held back from the caller's target, because another response was expected.
  var isHeld: Bool
  /// The target that the program chose for the response; nil if it chose none.
  var chosenTarget: ResponseTarget?
  /// Whether the body's source was read.
  var hasBegunBody: Bool
  var framing: TransferResult.Framing
  /// The offset in the body up to which bytes were handed over to the system.
  var handedOver: Int64
  /// The offset in the body from which on bytes were sent.
  var start: Int64
  /// The offset in the body up to which bytes were read.
  var read: Int64
  var sha256: SHA256Digest?
  /// The digest of the bytes up to `read`, for an attempt that sends the rest; nil if there is none.
  var bodyDigest: BodyDigest?
  /// Whether the platform's check trusts the server's certificates; nil if there was no encrypted connection.
  var isServerVerified: Bool?
  /// How the attempt went on the network.
  var metrics: TransferMetrics
  /// How often the request was sent: libcurl itself repeats a safe request if a kept connection ends.
  var requestCount: Int
  /// The certificates that the program has to decide on before the request can be sent; nil if there are none.
  var trustQuestion: ServerTrust?
  /// The host whose address could not be resolved; nil if the exchange didn't fail for this reason.
  var unresolvedHost: String?
  /// Whether a later lookup of that host may succeed; nil if that is not known.
  var mayResolveLater: Bool?
  /// Whether the server responded 100 to `Expect: 100-continue`.
  var hasContinued: Bool
  /// Whether the body was sent although the server responded neither 100 nor 417 to `Expect: 100-continue`.
  var expectIgnored: Bool
}
