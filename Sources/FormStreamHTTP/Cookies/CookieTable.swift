/// Cookies by domain. To find, replace or remove one, no other is looked at: a file or a server may bring many.
struct CookieTable: Sendable {
  private(set) var domains: [[UInt8]: [Cookie.Key: Cookie]] = [:]
  private(set) var count = 0
  /// How many `Secure` cookies of a name each domain has.
  private var secure: [[UInt8]: [[UInt8]: Int]] = [:]

  /// The cookie in whose place a cookie would be kept; nil if there is none.
  func old(of cookie: Cookie) -> Cookie? { domains[cookie.domain]?[cookie.key] }

  /// The `Secure` cookies of a name for a domain, for those above it and for those below it.
  func secureCookies(named name: [UInt8], around domain: [UInt8]) -> [Cookie] {
    let domains = (secure[name] ?? [:]).keys.filter { $0.isDomain(in: domain) || domain.isDomain(in: $0) }
    return domains.flatMap { (self.domains[$0] ?? [:]).values.filter { $0.isSecure && $0.name == name } }
  }

  /// Keeps a cookie, in the place of the old one if there is one.
  mutating func insert(_ cookie: Cookie) {
    if let old = domains[cookie.domain, default: [:]].updateValue(cookie, forKey: cookie.key) { note(old, -1) }
    note(cookie, 1)
  }

  mutating func remove(_ cookie: Cookie) {
    guard let old = domains[cookie.domain]?.removeValue(forKey: cookie.key) else { return }
    note(old, -1)
    if domains[cookie.domain]?.isEmpty == true { domains[cookie.domain] = nil }
  }

  mutating func removeExpired(at now: Int64) {
    for cookie in domains.values.flatMap({ $0.values.filter { $0.hasExpired(at: now) } }) { remove(cookie) }
  }

  /// Counts a cookie that has come or gone.
  private mutating func note(_ cookie: Cookie, _ change: Int) {
    count += change
    guard cookie.isSecure else { return }
    let number = secure[cookie.name, default: [:]][cookie.domain, default: 0] + change
    secure[cookie.name, default: [:]][cookie.domain] = number == 0 ? nil : number
    if secure[cookie.name]?.isEmpty == true { secure[cookie.name] = nil }
  }

  /// Notes that a cookie was sent.
  ///
  /// - Parameter event: the place of the request in the order of all events.
  mutating func note(sent cookie: Cookie, at event: Int) {
    domains[cookie.domain]?[cookie.key]?.lastUse = event
  }
}

extension Cookie {
  /// What a cookie of a domain is known by. RFC 6265bis §5.7: a new cookie takes the place of an old one if they have "the same name,
  /// domain, host-only-flag, and path".
  struct Key: Sendable, Hashable {
    let name: [UInt8]
    let isHostOnly: Bool
    let scope: [UInt8]
  }

  var key: Key { Key(name: name, isHostOnly: isHostOnly, scope: Array(scope)) }
}
