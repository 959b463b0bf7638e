import FormStreamPlatform

/// The cookies of a session, and the rules by which they are kept and sent (RFC 6265bis §5.7 and §5.8.3). No clock, lock or file.
///
/// The rules of RFC 6265bis about sites (`SameSite`) and about scripts are for browsers, and are not here. docs/cookies.md says
/// what is different in curl.
struct CookieStore: Sendable {
  /// The cookies of files. One that a server has renewed stays among them.
  private var ofFiles = CookieTable()
  /// The other cookies that servers have set.
  private var ofServers = CookieTable()
  /// The place of the next event in the order of all.
  private var events = 0
  let suffixes: PublicSuffixes

  /// How many cookies servers may set for a domain, and how many of them stay if there are more. RFC 6265bis §6.1: "At least 50
  /// cookies per domain", and "At least 3000 cookies total". The numbers are those of Chromium. Cookies of files don't count: their
  /// number is the user's choice, and none of them may be lost.
  static let (maximumPerDomain, leftPerDomain) = (180, 150)
  static let (maximumCount, leftInAll) = (3300, 3000)
  /// How many cookies a response may set, and how many a request gets, as in curl.
  static let (maximumSet, maximumSent) = (50, 150)
  /// The longest line of cookies, with the name of the header, as in curl. Many servers take no longer lines.
  static let maximumLine = 8190

  init(suffixes: PublicSuffixes) { self.suffixes = suffixes }

  // MARK: Setting

  /// Keeps the cookie of a response, if the rules allow it.
  ///
  /// - Parameters:
  ///   - place: where the request went.
  ///   - now: the time since 1970, in seconds.
  mutating func store(_ set: SetCookie, from place: CookiePlace, now: Int64) {
    guard let domain = domain(set.domain, from: place),
      // "If the request-uri does not denote a "secure" connection [...], and the cookie's secure-only-flag is true, then abort
      // these steps and ignore the cookie entirely."
      place.isSecure || !set.isSecure
    else { return }
    let cookie = Cookie(
      name: set.name, value: set.value, domain: domain.name, isHostOnly: domain.isHostOnly,
      path: set.path ?? place.defaultPath, isSecure: set.isSecure, isHTTPOnly: set.isHTTPOnly,
      expiry: set.expiry(now: now))
    guard cookie.keepsPromiseOfName(namesDomain: set.domain != nil, namesPath: set.path != nil),
      place.isSecure || cookie.isSecure || !coversSecureCookie(cookie, now: now)
    else { return }
    // Servers remove a cookie by setting one that has expired.
    guard !cookie.hasExpired(at: now) else { return remove(cookie) }
    if ofFiles.old(of: cookie) != nil { return add(cookie) }
    insert(cookie, into: \.ofServers)
    makeRoom(in: cookie.domain, now: now)
  }

  /// The domain of a cookie; nil if the server may not set cookies for the domain that it names.
  private func domain(_ given: [UInt8]?, from place: CookiePlace) -> (name: [UInt8], isHostOnly: Bool)? {
    // An address is no domain. As in curl, a cookie that names it is for the address alone.
    guard let given, !(place.isAddress && given == place.host) else { return (place.host, true) }
    // "If the domain-attribute contains a character that is not in the range of [USASCII] characters, abort".
    guard given.allSatisfy({ $0 < 0x80 }), place.isIn(given) else { return nil }
    let (name, host) = (String(decoding: given, as: UTF8.self), String(decoding: place.host, as: UTF8.self))
    // "If the domain-attribute is a public suffix: If the domain-attribute is identical to the canonicalized request-host: Let
    // the domain-attribute be the empty string. Otherwise: Abort these steps".
    if suffixes.contain(name) { return given == place.host ? (given, true) : nil }
    return given == place.host || suffixes.allow(host, name) ? (given, false) : nil
  }

  /// Whether there is a `Secure` cookie in whose place a server could read a new one that came without encryption.
  ///
  /// "If the cookie's secure-only-flag is false, and the request-uri does not denote a "secure" connection, then abort [...] if
  /// the cookie store contains one or more cookies that meet all of the following criteria: Their name matches [...]. Their
  /// secure-only-flag is true. Their domain domain-matches the domain of the newly-created cookie, or vice-versa. The path of the
  /// newly-created cookie path-matches the path of the existing cookie."
  private func coversSecureCookie(_ new: Cookie, now: Int64) -> Bool {
    [ofFiles, ofServers].contains { table in
      table.secureCookies(named: new.name, around: new.domain).contains { old in
        // RFC 6265bis §5.7: "The user agent MUST evict all expired cookies", so these can't be in the way.
        old.matches(path: new.path) && !old.hasExpired(at: now)
      }
    }
  }

  /// Keeps a cookie of a file.
  mutating func add(_ cookie: Cookie) { insert(cookie, into: \.ofFiles) }

  private mutating func insert(_ cookie: Cookie, into table: WritableKeyPath<CookieStore, CookieTable>) {
    var cookie = cookie
    events += 1
    // "Update the creation-time of the newly-created cookie to match the creation-time of the old-cookie."
    cookie.creation = self[keyPath: table].old(of: cookie)?.creation ?? events
    cookie.lastUse = events
    self[keyPath: table].insert(cookie)
  }

  // MARK: Removing

  private mutating func remove(_ cookie: Cookie) {
    ofFiles.remove(cookie)
    ofServers.remove(cookie)
  }

  mutating func removeExpired(at now: Int64) {
    ofFiles.removeExpired(at: now)
    ofServers.removeExpired(at: now)
  }

  /// "At any time, the user agent MAY remove excess cookies": expired ones first, then those of a domain that has too many, of
  /// them those that are not `Secure`, and at last any. Of several, the one that wasn't sent for the longest time goes first.
  ///
  /// More are removed than have to be, so that this is not done again for the next cookie.
  private mutating func makeRoom(in domain: [UInt8], now: Int64) {
    let isDomainFull = ofServers.domains[domain].map { $0.count > Self.maximumPerDomain } ?? false
    guard isDomainFull || ofServers.count > Self.maximumCount else { return }
    ofServers.removeExpired(at: now)
    if isDomainFull {
      let cookies = ofServers.domains[domain].map { Array($0.values) } ?? []
      let inOrder = cookies.sorted { $0.isSecure == $1.isSecure ? $0.lastUse < $1.lastUse : !$0.isSecure }
      for cookie in inOrder.dropLast(Self.leftPerDomain) { ofServers.remove(cookie) }
    }
    if ofServers.count > Self.maximumCount {
      let inOrder = ofServers.domains.values.flatMap(\.values).sorted { $0.lastUse < $1.lastUse }
      for cookie in inOrder.dropLast(Self.leftInAll) { ofServers.remove(cookie) }
    }
  }

  // MARK: Sending

  /// The value of the `Cookie` header for a request; nil if it has none.
  ///
  /// - Parameter own: the cookies that the request has itself; nil if there are none. They are last. As in curl, they are left out
  ///   if not even the kept cookies fit into the line.
  mutating func line(to place: CookiePlace, own: [UInt8]?, now: Int64) -> [UInt8]? {
    var line: [UInt8] = []
    events += 1
    for cookie in matching(place, now: now).prefix(Self.maximumSent) {
      let pair = cookie.pair
      let size = "Cookie: ".utf8.count + line.count + (line.isEmpty ? 0 : 2) + pair.count
      guard size <= Self.maximumLine else { return line.isEmpty ? nil : line }
      line += line.isEmpty ? pair : Array("; ".utf8) + pair
      ofServers.note(sent: cookie, at: events)
    }
    if let own { line += line.isEmpty ? own : Array("; ".utf8) + own }
    return line.isEmpty ? nil : line
  }

  /// The cookies for a request, of which the first that have room are sent. RFC 6265bis §5.8.3: "Cookies with longer paths are listed
  /// before cookies with shorter paths. Among cookies that have equal-length path fields, cookies with earlier creation-times are
  /// listed before cookies with later creation-times."
  private func matching(_ place: CookiePlace, now: Int64) -> [Cookie] {
    var found: [Cookie] = []
    for domain in place.domains {
      for cookies in [ofFiles.domains[domain], ofServers.domains[domain]].compactMap(\.self) {
        found += cookies.values.filter { cookie in
          (!cookie.isHostOnly || domain == place.host) && !cookie.hasExpired(at: now)
            && (place.isSecure || !cookie.isSecure) && cookie.matches(path: place.path)
        }
      }
    }
    return found.sorted {
      $0.path.count == $1.path.count ? $0.creation < $1.creation : $0.path.count > $1.path.count
    }
  }

  /// All cookies that have not expired, in the order in which they were created.
  func all(at now: Int64) -> [Cookie] {
    [ofFiles, ofServers].flatMap { $0.domains.values.flatMap(\.values) }
      .filter { !$0.hasExpired(at: now) }.sorted { $0.creation < $1.creation }
  }
}

extension CookiePlace {
  /// The host and, if it is a name, the domains above it.
  fileprivate var domains: [[UInt8]] {
    guard !isAddress else { return [host] }
    let dots = host.indices.filter { host[$0] == UInt8(ascii: ".") }
    return [host] + dots.map { Array(host[($0 + 1)...]) }
  }
}
