/// The decisions that a program makes while its requests are sent. Each closure has a default, and is called outside of the
/// engine: other requests go on, however long a closure takes.
///
/// For each attempt the closures are called in this order: ``challenge`` if the server responds 401, ``redirect`` if it
/// responds with a redirect that would be followed, and ``responseHead`` if the response is the last one. The rules of the
/// library come before the closures: a closure can forbid a redirect, or change what is sent, but it can't allow a redirect from
/// https to http, or make a success of a failure.
///
/// The time that a closure takes doesn't count as a stall. The limit of an attempt (``TimeLimits/attempt``) includes the time
/// in ``responseHead``, which is called during an attempt, but not the time in the other closures. Cancelling a request ends it
/// at once; the task in which the closure runs is then cancelled. If a closure throws, the request ends with `decisionFailed`,
/// and ``TransferError/underlying`` is the closure's error.
public struct Decisions: Sendable {
  /// Credentials for a server that refused a request with 401. If the closure returns nil, the 401 is the response. By default,
  /// only the request's own credentials are used.
  ///
  /// One call serves all requests of the session to this server that have the same credentials of their own: requests that get
  /// a 401 during the call wait for it, and later requests send the returned credentials at once. If the server refuses these
  /// credentials, the closure is called again, up to five times for a request; credentials that were just refused are not sent
  /// again. While the closure runs, the request has no connection, so the closure may send requests itself: to fetch a token,
  /// say.
  public var challenge: (@Sendable (AuthenticationChallenge) async throws -> Credentials?)?
  /// Whether a redirect is followed, if the policy (``TransferOptions/redirects``) allows it. By default it is followed.
  public var redirect: (@Sendable (ProposedRedirect) async throws -> RedirectChoice)?
  /// Where the body of the last response goes, given the response's head; nil for the request's own target, which is the
  /// default.
  ///
  /// While the closure runs, no part of the body is received. The closure is called again if a retry brings another response.
  /// It is not called for ``TransferSession/open(_:progress:)``, whose caller gets the head before the body.
  public var responseHead: (@Sendable (TransferResponse) async throws -> ResponseTarget?)?

  /// The defaults.
  public init() {}

  /// These decisions. A closure that is nil here is taken from `others`.
  func or(_ others: Decisions) -> Decisions {
    var all = self
    all.challenge = challenge ?? others.challenge
    all.redirect = redirect ?? others.redirect
    all.responseHead = responseHead ?? others.responseHead
    return all
  }
}

/// A server's demand for credentials.
public struct AuthenticationChallenge: Sendable {
  /// The URL that was requested.
  public let url: HTTPURL
  /// The schemes that the server offers; empty if it names none.
  public let offers: [OfferedScheme]
  /// How many credentials the server has refused for this request, including the request's own.
  public let failureCount: Int
  /// The response, without its body.
  public let response: TransferResponse
  /// The tag of the request; see ``TransferRequest/tag``. If several requests wait for the same credentials, it is the tag of the
  /// first of them.
  public var tag: (any Sendable)? { response.tag }

  /// The scheme of the first offer, such as `Bearer`; nil if the server names none.
  public var scheme: String? { offers.first?.scheme }
  /// The realm of the first offer; nil if there is none.
  public var realm: String? { offers.first?.realm }
  /// The host.
  public var host: String { url.origin.host }
}

/// A redirect that the policy allows.
public struct ProposedRedirect: Sendable {
  /// The URL that responded.
  public let source: HTTPURL
  /// The URL that the request would be sent to.
  public let target: HTTPURL
  /// The method that would be sent: GET for the page that a 303 names.
  public let method: HTTPMethod
  /// The headers that would be sent, without the ones that follow from the body and the settings. None of the request's own
  /// headers and credentials are sent to another origin.
  public let headers: HTTPHeaders
  /// The response, without its body.
  public let response: TransferResponse

  /// The tag of the request; see ``TransferRequest/tag``.
  public var tag: (any Sendable)? { response.tag }
  /// The status of the response.
  public var status: Int { response.status }
}

/// Whether a redirect is followed, and what is sent then.
public struct RedirectChoice: Hashable, Sendable {
  /// The headers and the method that are sent instead of the usual ones.
  struct Change: Hashable, Sendable {
    let headers: HTTPHeaders
    /// Nil if the method stays.
    let method: HTTPMethod?
  }

  enum Kind: Hashable {
    case follow(Change?)
    case keep
  }

  let kind: Kind

  /// The request is sent to the target.
  public static let follow = RedirectChoice(kind: .follow(nil))

  /// The request is sent to the target with other headers, and perhaps with another method.
  ///
  /// ```swift
  /// decisions.redirect = { redirect in
  ///   var headers = redirect.headers
  ///   headers["X-Storage-Class"] = "cold"
  ///   return .follow(with: headers)
  /// }
  /// ```
  ///
  /// The choice holds until a redirect leads to another origin. If the rules forbid it, nothing is sent to the target, and the
  /// request ends with `decisionFailed`.
  ///
  /// - Parameters:
  ///   - headers: replaces ``ProposedRedirect/headers``. Every header in it is sent, even to another origin.
  ///
  ///     Headers that follow from the body and the settings stay as they are, and can't be given: `Content-Type` and the others
  ///     that begin with `Content-`, `Idempotency-Key`, the headers of an upload that can go on, and `Range`, `If-Range` and
  ///     `Accept-Encoding` of a download.
  ///
  ///     Credentials that are not written as a header (``TransferRequest/credentials``, those of a netrc file, and those that
  ///     ``Decisions/challenge`` gave) are not among the headers, and are sent as after ``follow``. An `Authorization` that is
  ///     given here replaces them. If the headers had an `Authorization`, and it is removed, no other credentials are sent
  ///     in its place, unless the server asks for them, and ``Decisions/challenge`` gives them. Credentials in a header still
  ///     need encryption if the request demands it (``TransferOptions/requiresEncryptionForCredentials``).
  ///   - method: replaces ``ProposedRedirect/method``. A GET without a body can become a HEAD, and the reverse. A method that
  ///     changes something can become another one that does, with the same body, unless only the old one is idempotent. All
  ///     else would make the response to one request count as the response to another. The method of a download, or of an
  ///     upload that can go on, stays.
  public static func follow(with headers: HTTPHeaders, method: HTTPMethod? = nil) -> RedirectChoice {
    RedirectChoice(kind: .follow(Change(headers: headers, method: method)))
  }

  /// The redirect is the response. The request has then failed with `redirectRefused`, unless the redirect was a 303, which
  /// says that the request was carried out.
  public static let keep = RedirectChoice(kind: .keep)
}
