/// Which redirects are followed.
///
/// Only redirects to http and https are followed, and no redirect from https to http. Another origin receives none of the
/// request's cookies and credentials, and only those headers that describe the body (`Content-Type`, `Content-Encoding`,
/// `Content-Digest`).
public struct RedirectPolicy: Sendable, Hashable {
  /// The maximum number of redirects. Another redirect ends the request with the error `tooManyRedirects`.
  public var limit = 5
  /// Whether redirects to other origins are followed.
  public var allowsOtherOrigins = false
  /// Whether only redirects to URLs of https are followed. A redirect from https to http is never followed.
  public var requiresHTTPS = false
  /// The only hosts that are reached over http; nil if all hosts may be.
  var unencryptedHosts: ProxyExceptions?
  /// Which of the statuses 301, 302 and 303 are followed like 307: the same request, with its body, is sent to the new URL.
  package var repeatingStatuses: Set<Int> = []

  /// Up to five redirects within the origin.
  public init() {}
}
