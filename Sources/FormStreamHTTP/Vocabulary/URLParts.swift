import FormStreamMultipart
import FormStreamPlatform

/// The parts of an absolute `http` or `https` URL, as they are sent.
///
/// RFC 3986 is read strictly: where curl, browsers and the RFC read differently to which server a text leads, the text is
/// refused, or it means what it means for curl. docs/urls.md has a row for each such case.
struct URLParts: Hashable {
  enum Scheme: String {
    case http, https

    var defaultPort: Int { self == .http ? 80 : 443 }
  }

  /// The length of a text in bytes, and of the URL made of it. It is curl's limit.
  static let maximumLength = 8_000_000

  let scheme: Scheme
  /// The user and the password as they are written, up to the `@`; nil if there is no `@`.
  let userInfo: String?
  /// The user, with its percent-encoding removed.
  let user: String?
  /// The password, with its percent-encoding removed; nil if there is no colon after the user.
  let password: String?
  let host: URLHost
  /// The port that is written in the URL; nil if there is none.
  let port: Int?
  /// The path, which begins with a slash.
  let path: String
  /// The text between `?` and `#`; an empty query is one, too (RFC 3986 §6.2.3).
  private(set) var query: String?
  /// The text after `#`, which is never sent; nil if it is empty.
  let fragment: String?

  /// Parses a URL. Spaces and bytes beyond ASCII in its path and its query are encoded as curl encodes them in a `Location`.
  ///
  /// - Parameter keepsPath: whether `.` and `..` stay in the path.
  init(parsing text: String, keepsPath: Bool = false) throws(URLFlaw) {
    let bytes = Array(text.utf8)
    try Self.check(bytes)
    var rest = bytes[...]
    guard let scheme = rest.takeScheme() else { throw .noScheme }
    try self.init(scheme, rest, keepsPath: keepsPath)
  }

  /// Parses what comes after the colon of the scheme.
  init(_ name: String, _ text: ArraySlice<UInt8>, keepsPath: Bool) throws(URLFlaw) {
    guard let scheme = Scheme(rawValue: name) else {
      // `localhost:8080` has the form of a scheme and a path.
      guard text.starts(with: "//".utf8) else { throw .noScheme }
      throw .scheme(name)
    }
    // Like browsers, curl accepts one slash in place of two, and three.
    var rest = text.drop { $0 == UInt8(ascii: "/") }
    let slashes = text.count - rest.count
    guard rest.first != UInt8(ascii: "\\") else { throw .backslash }
    guard (1...3).contains(slashes) else { throw .slashes }
    let authority = try Authority(rest.take { !"/?#".utf8.contains($0) })
    try self.init(scheme, authority, Target(rest), keepsPath: keepsPath)
  }

  private init(_ scheme: Scheme, _ authority: Authority, _ target: Target, keepsPath: Bool) throws(URLFlaw) {
    guard target.path.count + (target.query?.count ?? 0) <= Self.maximumLength else { throw .tooLong }
    let path = target.path.isEmpty ? Array("/".utf8) : target.path
    self.scheme = scheme
    (userInfo, user, password) = (authority.userInfo, authority.user, authority.password)
    (host, port) = (authority.host, authority.port)
    self.path = String(decoding: keepsPath ? path : path.withoutDotSegments, as: UTF8.self)
    query = target.query.map { String(decoding: $0, as: UTF8.self) }
    fragment = target.fragment
  }

  /// Checks what holds for a whole text. Browsers remove some control characters, and C ends a text at NUL.
  private static func check(_ bytes: [UInt8]) throws(URLFlaw) {
    guard bytes.count <= maximumLength else { throw .tooLong }
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw .controlCharacter }
    // Browsers ignore spaces around a URL.
    guard bytes.first != 0x20 else { throw .spaceAtStart }
  }
}

/// What is made of the parts.
extension URLParts {
  /// The port that is connected to.
  var effectivePort: Int { port ?? scheme.defaultPort }

  /// What stands in the request line (RFC 9112 §3.2.1).
  var requestTarget: String { path + (query.map { "?\($0)" } ?? "") }

  /// The value of `Host` (RFC 9110 §7.2): without a zone, which means nothing to another machine, and without a default port.
  var hostField: String { host.text + portInURL }

  /// The URL without user, password and fragment.
  var absoluteString: String { "\(scheme.rawValue)://\(host.textInURL)\(portInURL)\(requestTarget)" }

  /// The URL with all its parts.
  var completeString: String {
    let login = userInfo.map { "\($0)@" } ?? ""
    return "\(scheme.rawValue)://\(login)\(host.textInURL)\(portInURL)\(requestTarget)"
      + (fragment.map { "#\($0)" } ?? "")
  }

  /// The URL with a text appended to its query, which must be encoded.
  func appending(query text: String) throws(URLFlaw) -> URLParts {
    var parts = self
    parts.query = query.map { $0.isEmpty ? text : "\($0)&\(text)" } ?? text
    guard parts.requestTarget.utf8.count <= Self.maximumLength else { throw .tooLong }
    return parts
  }

  private var portInURL: String { effectivePort == scheme.defaultPort ? "" : ":\(effectivePort)" }
}

/// References (RFC 3986 §5.2.2).
extension URLParts {
  /// Resolves a reference, which is not empty: the URL is the base.
  ///
  /// - Parameter keepsPath: whether `.` and `..` stay in the path, other than at the beginning of the reference.
  func resolving(_ reference: String, keepsPath: Bool = false) throws(URLFlaw) -> URLParts {
    let bytes = Array(reference.utf8)
    try Self.check(bytes)
    // Browsers read a backslash as a slash, and two slashes lead to another server.
    guard !["/\\", "\\/", "\\\\"].contains(where: { bytes.starts(with: $0.utf8) }) else { throw .backslash }
    var rest = bytes[...]
    if let name = rest.takeScheme() {
      // Browsers read `http:/path` as a path on the same server, if that has the same scheme.
      guard Scheme(rawValue: name) == nil || rest.starts(with: "//".utf8) else { throw .slashes }
      return try URLParts(name, rest, keepsPath: keepsPath)
    }
    if rest.starts(with: "//".utf8) { return try URLParts(scheme.rawValue, rest, keepsPath: keepsPath) }
    var target = Target(rest)
    if target.path.isEmpty {
      target.path = Array(path.utf8)
      if target.query == nil { target.query = query.map { Array($0.utf8) } }
    } else {
      target.path = mergedPath(target.path, keepsPath)
    }
    return try URLParts(scheme, Authority(of: self), target, keepsPath: keepsPath)
  }

  /// RFC 3986 §5.2.3: the path of a reference goes in place of all after the last slash of the base's path.
  private func mergedPath(_ path: [UInt8], _ keepsPath: Bool) -> [UInt8] {
    let slash = UInt8(ascii: "/")
    guard path.first != slash else { return path }
    var directory = Array(self.path.utf8)
    directory.removeLast(from: directory.lastIndex(of: slash))
    guard keepsPath else { return directory + [slash] + path }
    // Dots at the beginning of a reference say where it leads even if dots stay in paths, as with `--path-as-is` of curl.
    var rest = path[...]
    if rest.starts(with: "./".utf8) { rest = rest.dropFirst(2) }
    while rest.starts(with: "../".utf8) {
      rest = rest.dropFirst(3)
      directory.removeLast(from: directory.lastIndex(of: slash))
    }
    return directory + [slash] + rest
  }
}

/// Everything after the authority, encoded.
private struct Target {
  /// Empty, or the path with its dot segments.
  var path: [UInt8]
  var query: [UInt8]?
  let fragment: String?

  init(_ text: ArraySlice<UInt8>) {
    var rest = text
    path = rest.take { !"?#".utf8.contains($0) }.encoded(space: "%20")
    if rest.first == UInt8(ascii: "?") {
      query = rest.dropFirst().prefix { $0 != UInt8(ascii: "#") }.encoded(space: "+")
    }
    let end = rest.drop { $0 != UInt8(ascii: "#") }.dropFirst()
    fragment = end.isEmpty ? nil : String(decoding: end, as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate mutating func removeLast(from start: Int?) {
    if let start { removeLast(count - start) }
  }

  /// RFC 3986 §5.2.4, "Remove Dot Segments", of a path that begins with a slash. Browsers also remove segments of encoded dots
  /// (`%2e`); curl doesn't.
  fileprivate var withoutDotSegments: [UInt8] {
    guard contains(UInt8(ascii: ".")) else { return self }
    var segments: [ArraySlice<UInt8>] = []
    var isDot = false
    for segment in dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      let isUp = segment.elementsEqual("..".utf8)
      isDot = isUp || segment.elementsEqual(".".utf8)
      if isUp { _ = segments.popLast() }
      if !isDot { segments.append(segment) }
    }
    // A path that ends with dots ends with a slash then.
    if isDot { segments.append([]) }
    var path: [UInt8] = []
    path.reserveCapacity(count)
    for segment in segments {
      path.append(UInt8(ascii: "/"))
      path += segment
    }
    return path
  }
}

extension ArraySlice<UInt8> {
  /// Removes the bytes before the first that breaks a condition, and returns them.
  fileprivate mutating func take(while condition: (UInt8) -> Bool) -> ArraySlice {
    let taken = prefix(while: condition)
    self = self[taken.endIndex...]
    return taken
  }

  /// Removes a scheme and its colon (RFC 3986 §3.1), and returns the scheme in lower case; nil if the text doesn't begin with
  /// letters, digits and `+-.` before a colon.
  fileprivate mutating func takeScheme() -> String? {
    let name = prefix { $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) }
    guard !name.isEmpty, self[name.endIndex...].first == UInt8(ascii: ":") else { return nil }
    self = self[name.endIndex...].dropFirst()
    return String(decoding: name, as: UTF8.self).lowercased()
  }

  /// These bytes with spaces and bytes beyond ASCII encoded, with lower-case digits as curl writes them. Everything else stays,
  /// percent-encoding included: a server may tell one spelling from another.
  fileprivate func encoded(space: String) -> [UInt8] {
    guard contains(where: { $0 == 0x20 || $0 >= 0x80 }) else { return Array(self) }
    let digits = Array("0123456789abcdef".utf8)
    var result: [UInt8] = []
    result.reserveCapacity(count + 32)
    for byte in self {
      switch byte {
      case 0x20: result += space.utf8
      case 0x80...: result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: result.append(byte)
      }
    }
    return result
  }
}
