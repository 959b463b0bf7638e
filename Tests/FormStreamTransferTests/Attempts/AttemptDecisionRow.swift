import FormStream
import FormStreamTransfer
import Testing

/// One row of the table.
struct Row: Sendable, CustomTestStringConvertible {
  let testDescription: String
  private let sent: Sent
  private let known: KnownFacts
  private let expected: Expected

  init(_ description: String, _ sent: Sent, _ known: KnownFacts, _ expected: Expected) {
    testDescription = description
    (self.sent, self.known, self.expected) = (sent, known, expected)
  }

  func check() throws {
    let decision = try sent.attempt().decision(on: known.facts)
    #expect(Expected(decision, saying: expected.phrase) == expected)
    // Only the response to a concluding attempt is the caller's.
    #expect(decision.isFinal == expected.isConclusion)
  }
}

/// What was attempted: three attempts are allowed, and five redirects within the origin.
struct Sent: Sendable {
  private var method = HTTPMethod.post
  private var scheme = "http"
  private var isPage = false
  private var missingLength: MissingLength?
  private var hasUsedOneShot = false
  private var tries = 1
  private var redirects = 0
  private var earlierDoubt = Doubt.none
  private var mayAuthenticate = false
  private var isPassedOn = false
  private var options = TransferOptions()

  private init(_ method: HTTPMethod, isPage: Bool = false) {
    self.method = method
    self.isPage = isPage
    options.retry = RetryPolicy(attempts: 3)
  }

  static let post = Sent(.post)
  static let put = Sent(.put)
  static let patch = Sent(.patch)
  static let delete = Sent(.delete)
  static let get = Sent(.get)
  static let makeCollection = Sent(.makeCollection)
  static let page = Sent(.get, isPage: true)

  private func with(_ change: (inout Sent) -> Void) -> Sent {
    var copy = self
    change(&copy)
    return copy
  }

  func accepting(_ status: Int) -> Sent { with { $0.options.acceptedStatuses = [status] } }
  func onTry(_ number: Int) -> Sent { with { $0.tries = number } }
  func redirected(_ count: Int) -> Sent { with { $0.redirects = count } }
  var withKey: Sent { with { $0.options.idempotencyKey = .random() } }
  var retryingUnsafe: Sent { with { $0.options.retry.retriesUnsafe = true } }
  var leavingOrigin: Sent { with { $0.options.redirects.allowsOtherOrigins = true } }
  var toStream: Sent { with { $0.options.responseTarget = .stream { _ in } } }
  var afterOneShot: Sent { with { $0.hasUsedOneShot = true } }
  func lacking(_ length: MissingLength) -> Sent { with { $0.missingLength = length } }
  /// With credentials that wait for a challenge.
  var authenticating: Sent { with { $0.mayAuthenticate = true } }
  /// After an attempt without a response.
  var inDoubt: Sent { with { $0.earlierDoubt = .open } }
  /// After a 500, or after a 502 to a request that may be sent twice.
  var afterServerFailure: Sent { with { $0.earlierDoubt = .serverFailed } }
  /// To a proxy that passes it on.
  var throughProxy: Sent { with { $0.isPassedOn = true } }
  var overTLS: Sent { with { $0.scheme = "https" } }

  func attempt() throws -> Attempt {
    Attempt(
      method, try HTTPURL("\(scheme)://a.example/a"), changesSomething: method != .get,
      step: isPage ? .page : .request, bodyLength: missingLength == nil ? 10 : nil, missingLength: missingLength,
      hasUsedOneShot: hasUsedOneShot, tries: tries, redirects: redirects,
      earlierDoubt: earlierDoubt, mayAuthenticate: mayAuthenticate, isPassedOn: isPassedOn,
      options: Shared(options))
  }
}

/// What is known about the attempt.
struct KnownFacts: Sendable {
  enum Remedy { case transient, permanent }

  private(set) var facts: AttemptFacts

  static func status(_ status: Int, to location: String? = nil, after: Duration? = nil)
    -> KnownFacts
  {
    KnownFacts(
      facts: AttemptFacts(response: .init(status: status, location: location, retryAfter: after)))
  }

  /// In HTTP/1.0.
  static func old(_ status: Int) -> KnownFacts {
    KnownFacts(facts: AttemptFacts(response: .init(status: status), speaksHTTP10: true))
  }

  static func gateway(_ status: Int, after: Duration? = nil) -> KnownFacts {
    KnownFacts(
      facts: AttemptFacts(
        response: .init(status: status, retryAfter: after, isFromGateway: true)))
  }

  static func early(_ status: Int, to location: String? = nil) -> KnownFacts {
    KnownFacts(
      facts: AttemptFacts(
        response: .init(status: status, location: location), stage: .partlySent,
        handedOverAtResponse: 4, isResponseToCompleteRequest: false))
  }

  static func expectRejected(_ status: Int) -> KnownFacts {
    KnownFacts(
      facts: AttemptFacts(
        response: .init(status: status), stage: .partlySent, isResponseToCompleteRequest: false,
        expectRejected: true))
  }

  static func notLookedAt(_ repetition: ImmediateRepeat) -> KnownFacts {
    KnownFacts(
      facts: AttemptFacts(
        failure: TransferError(.connectionLost, on: "test", "It failed."), isTransient: true,
        stage: .notSent, repetition: repetition))
  }

  static func demandingHTTP11(
    _ stage: AttemptStage, _ demand: HTTP11Demand = .allowed
  ) -> KnownFacts {
    KnownFacts(
      facts: AttemptFacts(
        failure: TransferError(.http2Unavailable, on: "test", "It failed."), stage: stage,
        demandedHTTP11: demand))
  }

  static func truncated(
    _ status: Int, _ code: TransferError.Code?, _ remedy: Remedy = .transient
  ) -> KnownFacts {
    KnownFacts(
      facts: AttemptFacts(
        response: .init(status: status, isTruncated: true),
        failure: code.map { TransferError($0, on: "test", "It failed.") },
        isTransient: remedy == .transient))
  }

  static func silent(
    _ stage: AttemptStage, _ code: TransferError.Code, _ remedy: Remedy = .permanent,
    fromSource: Bool = false
  ) -> KnownFacts {
    let cause = fromSource ? MultipartError(.streamFailed, on: "test", "It failed.") : nil
    return KnownFacts(
      facts: AttemptFacts(
        failure: TransferError(code, on: "test", "It failed.", underlying: cause),
        isTransient: remedy == .transient, stage: stage))
  }

  var encrypted: KnownFacts {
    var copy = self
    copy.facts.isEncrypted = true
    return copy
  }
}

/// What follows, in a form that can be compared.
enum Expected: Equatable, Sendable {
  case conclude(TransferResult.Outcome, TransferError.Code? = nil, saying: String? = nil)
  case retry(TransferResult.Outcome, TransferError.Code, after: Duration? = nil)
  case repeatWithoutExpect
  case repeatWithLength
  case repeatAtOnce(ImmediateRepeat)
  case repeatOverHTTP11
  case authenticate(TransferResult.Outcome, TransferError.Code?)
  case follow(String)
  case fetchPage(String)
  case keepEarlierResponse
  case resume(TransferResult.Outcome, TransferError.Code, after: Duration? = nil)
  case awaitServer(TransferResult.Outcome, TransferError.Code)
  case beginAgain(TransferResult.Outcome, TransferError.Code)
  case append(from: Int64)
  case begin(UploadStart)
  /// A retry without an error to report, which no rule allows.
  case retryWithoutError

  var phrase: String? { if case .conclude(_, _, let phrase) = self { phrase } else { nil } }
  var isConclusion: Bool { if case .conclude = self { true } else { false } }

  /// - Parameter phrase: kept in the result if the error's description contains it.
  init(_ decision: AttemptDecision, saying phrase: String?) {
    switch decision {
    case .conclude(let verdict):
      let isSaid = phrase.map { verdict.error?.description.contains($0) == true } ?? false
      self = .conclude(verdict.outcome, verdict.error?.code, saying: isSaid ? phrase : nil)
    case .retry(let verdict, let retryAfter):
      self =
        verdict.error.map { .retry(verdict.outcome, $0.code, after: retryAfter) }
        ?? .retryWithoutError
    case .repeatWithLength: self = .repeatWithLength
    case .repeatWithoutExpect: self = .repeatWithoutExpect
    case .repeatAtOnce(let repetition): self = .repeatAtOnce(repetition)
    case .repeatOverHTTP11: self = .repeatOverHTTP11
    case .authenticate(let verdict): self = .authenticate(verdict.outcome, verdict.error?.code)
    case .follow(let url): self = .follow(url.description)
    case .fetchPage(let url): self = .fetchPage(url.description)
    case .keepEarlierResponse: self = .keepEarlierResponse
    case .resume(let verdict, _, let retryAfter):
      self =
        verdict.error.map { .resume(verdict.outcome, $0.code, after: retryAfter) }
        ?? .retryWithoutError
    case .awaitServer(let verdict, _, _):
      self = verdict.error.map { .awaitServer(verdict.outcome, $0.code) } ?? .retryWithoutError
    case .beginAgain(let verdict):
      self = verdict.error.map { .beginAgain(verdict.outcome, $0.code) } ?? .retryWithoutError
    case .append(let offset): self = .append(from: offset)
    case .begin(let start): self = .begin(start)
    }
  }
}
