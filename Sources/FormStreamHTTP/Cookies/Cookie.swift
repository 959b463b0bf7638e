import FormStreamMultipart
import FormStreamPlatform

/// A cookie that a session keeps (RFC 6265bis §5.7). Its texts are bytes, because servers send values that are not UTF-8.
struct Cookie: Sendable, Hashable {
  var name: [UInt8]
  var value: [UInt8]
  /// In lower case, without a dot before it.
  var domain: [UInt8]
  /// Whether the cookie is for the host named `domain` alone, and not for the hosts below it.
  var isHostOnly: Bool
  /// As a file of cookies has it.
  var path: [UInt8]
  var isSecure: Bool
  var isHTTPOnly: Bool
  /// Since 1970; nil for a session cookie.
  var expiry: Int64?
  /// The place among all cookies of the session, in the order in which they were created.
  var creation = 0
  /// When the cookie was sent or set, as a place among all such events.
  var lastUse = 0

  func hasExpired(at now: Int64) -> Bool { expiry.map { $0 < now } ?? false }

  /// The path without a slash at its end and, as in curl, without quotes around it, which some servers write.
  ///
  /// curl writes the default path of a cookie with its last slash, `/a/` for the URL `/a/b`, but means `/a` (RFC 6265bis §5.1.4).
  /// Files can't tell this path from the attribute `Path=/a/`. So, as in curl, both are `/a`.
  var scope: ArraySlice<UInt8> {
    let path = path[...].withoutQuotes
    return path.count > 1 && path.last == UInt8(ascii: "/") ? path.dropLast() : path
  }

  /// RFC 6265bis §5.1.4: "A request-path path-matches a given cookie-path if at least one of the following conditions holds".
  func matches(path request: some Collection<UInt8>) -> Bool {
    guard request.starts(with: scope) else { return false }
    return request.count == scope.count || scope.last == UInt8(ascii: "/")
      || request.dropFirst(scope.count).first == UInt8(ascii: "/")
  }

  /// Whether a cookie has something to send, and a server can read it in one way only: without a name, `=` in the value would be the
  /// end of a name. A server without encryption could so stand in for a `Secure` cookie of that name.
  static func isReadable(_ name: [UInt8], _ value: [UInt8]) -> Bool {
    !name.isEmpty || !value.isEmpty && !value.contains(UInt8(ascii: "="))
  }

  /// Whether the cookie has what its name promises (RFC 6265bis §4.1.3), in any case of its letters. A cookie without a name has
  /// the promise in its value: a server can't tell it from a name.
  func keepsPromiseOfName(namesDomain: Bool, namesPath: Bool) -> Bool {
    let start = (name.isEmpty ? value : name).prefix(9).map(\.asciiLowercased)
    if start.starts(with: "__host-".utf8) {
      return !name.isEmpty && isSecure && isHostOnly && !namesDomain && namesPath && path == Array("/".utf8)
    }
    return !start.elementsEqual("__secure-".utf8) || !name.isEmpty && isSecure
  }

  /// The cookie as it is sent. RFC 6265bis §5.8.3: "If the cookies' name is not empty, output the cookie's name followed by the
  /// %x3D ("=") character."
  var pair: [UInt8] { name.isEmpty ? value : name + [UInt8(ascii: "=")] + value }
}

/// Where a request goes, as far as cookies depend on it.
struct CookiePlace: Sendable, Hashable {
  /// In lower case; an IPv6 address without brackets.
  let host: [UInt8]
  let path: [UInt8]
  /// Whether `Secure` cookies are sent there, and taken from there.
  let isSecure: Bool

  init(host: String, path: String, isSecure: Bool) {
    self.host = host.utf8.map(\.asciiLowercased)
    self.path = Array(path.utf8)
    self.isSecure = isSecure
  }

  /// - Parameters:
  ///   - header: the `Host` header of the request; nil if it is that of the URL. As in curl, cookies belong to the host that it
  ///     names, because this is the host that the server knows.
  ///   - isDiverted: whether the request may leave this machine even if its URL names this machine.
  init(_ url: HTTPURL, hostHeader header: String? = nil, isDiverted: Bool = false) {
    let given = header.map { Self.host(named: $0) } ?? ""
    let name = Self.host(named: url.origin.host)
    let text = url.absoluteString
    let afterScheme = text.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
    let path = afterScheme.drop { $0 != UInt8(ascii: "/") }.prefix { $0 != UInt8(ascii: "?") }
    self.init(
      host: given.isEmpty ? name : given, path: path.isEmpty ? "/" : String(Substring(path)),
      // RFC 6265bis §5.8.3 leaves it to the client what a secure connection is. As in curl, it is also one that doesn't leave
      // this machine. Unlike in curl, the name alone doesn't prove that: a proxy may get the request.
      isSecure: url.origin.scheme == "https"
        || !isDiverted && Self.isLoopback(name) && (given.isEmpty || Self.isLoopback(given)))
  }

  /// The host in the form in which cookies have it, without its port. RFC 9110 §7.2: Host = uri-host [ ":" port ]
  static func host(named text: String) -> String {
    guard text.hasPrefix("[") else { return text.prefix { $0 != ":" }.lowercased() }
    return text.dropFirst().prefix { $0 != "]" }.lowercased()
  }

  /// Whether a host in this form is this machine.
  static func isLoopback(_ host: String) -> Bool { ["localhost", "127.0.0.1", "::1"].contains(host) }

  /// Whether the host is an address, which has no domain.
  var isAddress: Bool { addressBytes(String(decoding: host, as: UTF8.self)) != nil }

  /// RFC 6265bis §5.1.4: "The characters of the uri-path from the first character up to, but not including, the right-most
  /// %x2F". The slash is kept: see `Cookie.scope`.
  var defaultPath: [UInt8] {
    path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[...$0]) } ?? Array("/".utf8)
  }

  /// RFC 6265bis §5.1.3: whether the host is the domain, or a name below it.
  func isIn(_ domain: some BidirectionalCollection<UInt8>) -> Bool {
    host.isDomain(in: domain) && !isAddress || host.elementsEqual(domain)
  }
}

extension Collection<UInt8> where Self: BidirectionalCollection {
  /// Whether a name is a domain, or a name below it.
  func isDomain(in domain: some BidirectionalCollection<UInt8>) -> Bool {
    guard suffix(domain.count).elementsEqual(domain) else { return false }
    return count == domain.count || dropLast(domain.count).last == UInt8(ascii: ".")
  }
}
