import FormStreamDigest
import FormStream
import FormStreamPlatform

extension Exchange {
  /// What is sent, and how.
  struct Order: Sendable {
    var method: HTTPMethod
    var url: HTTPURL
    var headers: HTTPHeaders
    /// What goes out as the body; nil where there is none.
    var body: BodyLayout?
    /// Whether a body is announced: an empty one where `body` is nil.
    var announcesBody: Bool
    /// Whether leave to send the body is asked for, and how long it is waited for.
    var askingPatience: Duration?
    /// Whether a connection that is there already may be used.
    var usesIdleConnection: Bool
    var options: TransferOptions
    var configuration: TransferSession.Configuration
    /// Whether an answer is the one that the caller gets.
    var isFinal: @Sendable (_ status: Int, _ headers: HTTPHeaders) -> Bool

    var mayBeHTTP2: Bool {
      configuration.version == .http2
        || configuration.version == .automatic && url.origin.scheme == "https"
    }
  }

  /// How far a request got that has no answer.
  enum Stage: Sendable {
    /// The server can't have seen it.
    case notSent
    /// The server can't have it whole.
    case partlySent
    /// It went out whole.
    case sent
  }

  /// What is known at the end.
  struct End: Sendable {
    var response: TransferResponse?
    /// Whether the answer was kept from its target, since another was expected.
    var isHeld: Bool
    /// Why it ended before there was a whole answer, or what is lacking of it.
    var failure: TransferError?
    /// Whether trying again might help: nobody was reached, or the connection broke.
    var isTransient: Bool
    var stage: Stage
    /// How many bytes of the body were out when a final answer began; nil where all were.
    var handedOverAtResponse: Int64?
    var framing: TransferResult.Framing
    /// How many bytes of the body the system's network took.
    var handedOver: Int64
    var sha256: SHA256.Digest?
    var isEncrypted: Bool
    var hasContinued: Bool
    /// The body went out though leave was asked for and not given.
    var askedInVain: Bool

    /// The server does not take the question, and has nothing of the body.
    var isAskingRefused: Bool

    /// Whether all was out before there was an answer: only then it can mean all.
    var isWhole: Bool { stage == .sent && handedOverAtResponse == nil }
  }
}
