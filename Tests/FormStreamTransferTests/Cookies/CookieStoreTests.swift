import FormStreamTestSupport
import FormStreamTransfer
import Testing

@testable import FormStreamHTTP

/// The rules by which cookies are kept and sent (RFC 6265bis §5.6 to §5.8), without a network.
@Suite struct CookieStoreTests {
  /// A store and its clock.
  private struct Kept {
    var store = CookieStore(suffixes: PublicSuffixes.installed ?? .unknown)
    var now: Int64 = 1_000_000

    mutating func set(_ url: String, _ values: String...) throws {
      for value in values {
        if let set = SetCookie(value.utf8) { store.store(set, from: CookiePlace(try HTTPURL(url)), now: now) }
      }
    }

    mutating func sent(_ url: String, own: String? = nil) throws -> String? {
      let line = store.line(to: CookiePlace(try HTTPURL(url)), own: own.map { Array($0.utf8) }, now: now)
      return line.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Adds the cookie of a file.
    mutating func add(_ name: String, _ domain: String, isSecure: Bool = false, expiry: Int64? = nil) {
      store.add(
        Cookie(
          name: Array(name.utf8), value: Array("file".utf8), domain: Array(domain.utf8), isHostOnly: true,
          path: [0x2F], isSecure: isSecure, isHTTPOnly: false, expiry: expiry))
    }

    var count: Int { store.all(at: now).count }
    var names: Set<String> { Set(store.all(at: now).map { String(decoding: $0.name, as: UTF8.self) }) }
  }

  /// What a response of `https://b.a.example/x/y?q=/z/` sets, and where it is sent.
  @Test(
    arguments: [
      ("c=1", "https://b.a.example/x", true), ("c=1", "https://b.a.example/x/", true),
      ("c=1", "https://b.a.example/x/z/1?q", true), ("c=1", "https://b.a.example/xy", false),
      ("c=1", "https://b.a.example/", false), ("c=1", "https://c.b.a.example/x", false),
      ("c=1", "https://a.example/x", false), ("c=1", "http://B.A.example:81/x", true),
      ("c=1; Domain=a.example; Path=/", "https://a.example/", true),
      ("c=1; Domain=.A.example; Path=/", "https://z.a.example/", true),
      ("c=1; Domain=a.example; Path=/", "https://za.example/", false),
      ("c=1; Domain=b.a.example; Path=/", "https://c.b.a.example/", true),
      ("c=1; Domain=example; Path=/", "https://b.a.example/", false),
      ("c=1; Domain=c.b.a.example; Path=/", "https://b.a.example/", false),
      ("c=1; Domain=ü.example; Path=/", "https://b.a.example/", false),
      ("c=1; Domain; Path=/", "https://b.a.example/", true), ("c=1; Path=/x/", "https://b.a.example/x", true),
      ("c=1; Path=\"/x\"", "https://b.a.example/x", true), ("c=1; Path=/X", "https://b.a.example/x", false),
      ("c=1; Secure", "http://b.a.example/x", false), ("c=1; secure=no", "https://b.a.example/x", true),
      ("c=1; Max-Age=0", "https://b.a.example/x", false), ("c=1; Max-Age=-1", "https://b.a.example/x", false),
      ("c=1; Max-Age=-x", "https://b.a.example/x", true), ("c=1; Max-Age=+0", "https://b.a.example/x", true),
      ("c=1; Max-Age=99999999999999999999", "https://b.a.example/x", true),
      ("c=1; Expires=Fri, 02 Jan 1970 00:00:00 GMT", "https://b.a.example/x", false),
      ("c=1; Expires=Fri, 02 Jan 1970 00:00:00 GMT; Max-Age=1", "https://b.a.example/x", true),
      ("c=1; Max-Age=0; Expires=Fri, 02 Jan 2070 00:00:00 GMT", "https://b.a.example/x", false),
      ("__Secure-c=1", "https://b.a.example/x", false), ("__SECURE-c=1; Secure", "https://b.a.example/x", true),
      ("__Host-c=1; Secure; Path=/", "https://b.a.example/", true),
      ("__host-c=1; Path=/", "https://b.a.example/", false),
      ("__Host-c=1; Secure; Path=/x", "https://b.a.example/x", false),
      ("__Host-c=1; Secure; Path=/; Domain=b.a.example", "https://b.a.example/", false),
      ("__Host-c", "https://b.a.example/x", false), ("=__Secure-c=1; Secure", "https://b.a.example/x", false),
      ("c=1\u{7F}", "https://b.a.example/x", false), ("c=1\t2", "https://b.a.example/x", false),
      ("c\t=1", "https://b.a.example/x", true), ("", "https://b.a.example/x", false),
      ("=d=1", "https://b.a.example/x", false), ("==", "https://b.a.example/x", false), ("=", "https://b.a.example/x", false),
    ] as [(String, String, Bool)])
  func `a cookie goes where its rules say`(set: String, url: String, isSent: Bool) throws {
    var kept = Kept()
    try kept.set("https://b.a.example/x/y?q=/z/", set)
    #expect(try (kept.sent(url) != nil) == isSent)
  }

  @Test(
    arguments: [
      ("https://co.uk/", "c=1; Domain=co.uk", "https://co.uk/", true),
      ("https://co.uk/", "c=1; Domain=co.uk", "https://a.co.uk/", false),
      ("https://a.co.uk/", "c=1; Domain=co.uk", "https://a.co.uk/", false),
      ("https://a.b.kawasaki.jp/", "c=1; Domain=kawasaki.jp", "https://a.b.kawasaki.jp/", false),
      ("https://b.a.co.uk./", "c=1; Domain=co.uk.", "https://b.a.co.uk./", false),
      ("https://b.a.co.uk./", "c=1; Domain=a.co.uk.", "https://c.a.co.uk./", true),
      ("https://localhost/", "c=1; Domain=localhost", "https://localhost/", true),
      ("https://a.localhost/", "c=1; Domain=localhost", "https://a.localhost/", false),
      ("https://127.0.0.1/", "c=1; Domain=127.0.0.1", "https://127.0.0.1/", true),
      ("https://127.0.0.1/", "c=1; Domain=0.0.1", "https://127.0.0.1/", false),
      ("https://[::1]:8443/", "c=1; Domain=::1", "https://[::1]/", true),
    ] as [(String, String, String, Bool)])
  func `no cookie is for a public suffix or a part of an address`(
    from: String, set: String, to: String, isSent: Bool
  ) throws {
    var kept = Kept()
    try kept.set(from, set)
    #expect(try (kept.sent(to) != nil) == isSent)
  }

  /// libpsl may not be installed.
  @Test func `without a list of public suffixes, a domain of one label is one`() throws {
    var kept = Kept()
    kept.store = CookieStore(suffixes: .unknown)
    try kept.set("https://a.example/", "wide=1; Domain=example", "dot=1; Domain=example.", "a=1; Domain=a.example")
    try kept.set("https://com/", "own=1; Domain=com")
    #expect(try kept.sent("https://b.a.example/") == "a=1")
    #expect(try kept.sent("https://com/") == "own=1")
    #expect(try kept.sent("https://a.com/") == nil)
  }

  @Test func `long paths are first, then the oldest cookies, and a new value keeps the place`() throws {
    var kept = Kept()
    try kept.set(
      "https://a.example/x/y", "b=1", "root=1; Path=/", "a=1", "c=1", "A=2", "b=2", "wide=1; Path=/x; Domain=a.example")
    #expect(try kept.sent("https://a.example/x/y") == "b=2; a=1; c=1; A=2; wide=1; root=1")
    #expect(try kept.sent("https://a.example/x/y", own: "own=1") == "b=2; a=1; c=1; A=2; wide=1; root=1; own=1")
    #expect(try kept.sent("https://z.example/", own: "own=1") == "own=1")
  }

  @Test func `a cookie for the host and one for the domain are two`() throws {
    var kept = Kept()
    try kept.set("https://a.example/", "c=1", "c=2; Domain=a.example", "c=3; Path=/x")
    #expect(try kept.sent("https://a.example/x") == "c=3; c=1; c=2")
    try kept.set("https://a.example/", "c=; Max-Age=0")
    #expect(try kept.sent("https://a.example/x") == "c=3; c=2")
  }

  @Test(
    arguments: [
      ("c=2", true), ("c=2; Path=/x/y", true), ("c=2; Domain=a.example; Path=/x", true), ("d=2; Path=/x", false),
      ("c=2; Path=/", false), ("c=2; Path=/xy", false),
    ] as [(String, Bool)])
  func `a server without encryption can't take the place of a Secure cookie`(
    set: String, isRefused: Bool
  ) throws {
    var kept = Kept()
    try kept.set("https://b.a.example/", "c=1; Secure; Path=/x; Domain=a.example")
    try kept.set("http://b.a.example/x/", set)
    #expect(kept.count == (isRefused ? 1 : 2))
    try kept.set("https://b.a.example/x/", set)
    #expect(kept.count == 2 || set.contains("Domain"))
  }

  @Test(
    arguments: [
      ("http://localhost/", nil, true), ("http://127.0.0.1:8080/", nil, true), ("http://[::1]/", nil, true),
      ("http://127.0.0.2/", nil, false), ("http://a.example/", "localhost", false),
      ("http://127.0.0.1/", "a.example", false), ("https://127.0.0.1/", "a.example:81", true),
      ("http://127.0.0.1/", "[::1]:80", true), ("http://127.0.0.1/", "", true),
    ] as [(String, String?, Bool)])
  func `only connections to this machine are secure without encryption`(
    url: String, host: String?, isSecure: Bool
  ) throws {
    #expect(CookiePlace(try HTTPURL(url), hostHeader: host).isSecure == isSecure)
  }

  @Test func `a cookie ends after its time`() throws {
    var kept = Kept()
    try kept.set("https://a.example/", "a=1; Max-Age=10", "b=1")
    kept.now += 10
    #expect(try kept.sent("https://a.example/") == "a=1; b=1")
    kept.now += 1
    #expect(try kept.sent("https://a.example/") == "b=1")
    #expect(kept.count == 1)
  }

  /// 4,096 bytes, without the `=`.
  @Test(arguments: [(4095, true), (4096, false)])
  func `a name and a value have 4,096 bytes`(count: Int, isKept: Bool) throws {
    var kept = Kept()
    try kept.set("https://a.example/", "a=\(String(repeating: "v", count: count))")
    #expect(kept.count == (isKept ? 1 : 0))
  }

  @Test(arguments: [(4086, true), (4087, false)])
  func `the line of cookies has 8,190 bytes with its name`(count: Int, isSent: Bool) throws {
    var kept = Kept()
    let values = [4090, count].map { String(repeating: "v", count: $0) }
    try kept.set("https://a.example/", "a=\(values[0])", "b=\(values[1])")
    let sent = try #require(try kept.sent("https://a.example/", own: "own=1"))
    #expect(sent == (isSent ? "a=\(values[0]); b=\(values[1]); own=1" : "a=\(values[0])"))
  }

  /// It was removed or had ended, and still kept a new one away.
  @Test func `a Secure cookie that has expired is in nobody's way`() throws {
    var kept = Kept()
    kept.add("file", "a.example", isSecure: true, expiry: kept.now + 1)
    try kept.set("https://a.example/", "aged=1; Secure; Max-Age=1", "removed=1; Secure", "lives=1; Secure")
    try kept.set("https://a.example/", "removed=; Secure; Max-Age=0")
    kept.now += 2
    try kept.set("http://a.example/", "file=2", "aged=2", "removed=2", "lives=2")
    #expect(try kept.sent("http://a.example/") == "file=2; aged=2; removed=2")
  }

  @Test func `a domain has room for 180 cookies, and then the expired, open and unused ones go first`() throws {
    var kept = Kept()
    try kept.set("https://a.example/c/", "kept=1; Secure", "used=1; Path=/used", "gone=1; Max-Age=1")
    for number in 0..<177 { try kept.set("https://a.example/c/", "c\(number)=1") }
    kept.now += 2
    #expect(try kept.sent("https://a.example/used") == "used=1")
    try kept.set("https://a.example/c/", "more=1")
    #expect(kept.count == 150)
    #expect(kept.names.isSuperset(of: ["kept", "used", "c30", "more"]))
    try kept.set("https://a.example/c/", "other=1")
    try kept.set("https://b.example/", "c=1")
    #expect(kept.count == 152)
  }

  @Test func `all servers have room for 3,300 cookies, of which 3,000 stay`() throws {
    var kept = Kept()
    for host in 0..<22 {
      for number in 0..<150 { try kept.set("https://s\(host).example/", "c\(host)-\(number)=1") }
    }
    #expect(kept.count == 3300)
    try kept.set("https://s22.example/", "last=1")
    // Those that were set first went first: none of them was ever sent.
    #expect(kept.count == 3000)
    #expect(kept.names.isDisjoint(with: (0..<150).flatMap { ["c0-\($0)", "c1-\($0)"] }))
    #expect(kept.names.isSuperset(of: ["c2-1", "c21-149", "last"]))
  }

  @Test func `cookies of files don't count, even if servers renew them, and none is lost`() throws {
    var kept = Kept()
    for number in 0..<400 { kept.add("f\(number)", "a.example") }
    for number in 0..<400 { try kept.set("https://a.example/", "f\(number)=2; Max-Age=9") }
    for number in 0..<180 { try kept.set("https://a.example/", "s\(number)=1") }
    #expect(kept.count == 580)
    try kept.set("https://a.example/", "more=1", "f0=3", "f1=; Max-Age=0")
    #expect(kept.count == 549)
    #expect(kept.names.isSuperset(of: ["f0", "f399", "more", "s179"]))
    #expect(kept.names.isDisjoint(with: ["f1", "s0", "s30"]))
  }

  @Test func `a cookie that had no room in the line counts as not sent`() throws {
    var kept = Kept()
    let value = String(repeating: "v", count: 4090)
    try kept.set("https://a.example/x/", "a=\(value)", "b=\(value)", "c=1")
    for number in 0..<177 { try kept.set("https://a.example/y/", "d\(number)=1") }
    #expect(try kept.sent("https://a.example/x/") == "a=\(value)")
    try kept.set("https://a.example/y/", "more=1")
    #expect(kept.names.contains("a") && kept.names.isDisjoint(with: ["b", "c", "d0"]))
  }
}
