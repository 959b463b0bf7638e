import FormStreamMultipart
import FormStreamPlatform

/// The cookies that all requests of a session share, on all its engines.
final class CookieJar: Sendable {
  private let store: Guarded<CookieStore>

  /// Nil if the policy keeps no cookies.
  init?(_ policy: CookiePolicy) throws(TransferError) {
    guard case .session(let files, let withoutSessionCookies, let host) = policy.kind else { return nil }
    let suffixes = PublicSuffixes.installed ?? .unknown
    var store = CookieStore(suffixes: suffixes)
    let now = Self.now
    for path in files {
      let file = CookieFile(path: path, host: host.map { Array($0.utf8) }, suffixes: suffixes, now: now)
      for cookie in try file.cookies()
      where cookie.expiry != nil || !withoutSessionCookies { store.add(cookie) }
    }
    store.removeExpired(at: now)
    self.store = Guarded(store)
  }

  /// The value of the `Cookie` header of a request, which has its own cookies, too; nil if it has none.
  func line(to place: CookiePlace, own: [UInt8]?) -> [UInt8]? {
    store.withLock { $0.line(to: place, own: own, now: Self.now) }
  }

  /// Keeps the cookies that a response sets.
  func keep(_ headers: HTTPHeaders, from place: CookiePlace) {
    let cookies = headers.fields.filter { $0.name.isSameHeaderName(as: "Set-Cookie") }.compactMap { SetCookie($0.bytes) }
    guard !cookies.isEmpty else { return }
    store.withLock { store in
      for cookie in cookies.prefix(CookieStore.maximumSet) { store.store(cookie, from: place, now: Self.now) }
    }
  }

  /// The cookies as lines of a cookie file, each as its bytes.
  var lines: [[UInt8]] { store.withLock { $0.all(at: Self.now) }.map(CookieFile.line) }

  private static var now: Int64 { timeSince1970().components.seconds }
}
