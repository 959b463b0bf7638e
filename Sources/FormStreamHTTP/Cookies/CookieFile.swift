public import FormStreamMultipart
import FormStreamPlatform

/// A file of cookies, in the format of Netscape's browser.
struct CookieFile {
  let path: LocalPath
  /// The host of the cookies that name none, in lower case; nil if there may be no such cookies.
  let host: [UInt8]?
  let suffixes: PublicSuffixes
  /// The time since 1970, in seconds.
  let now: Int64

  private static let maximumSize = 16 * 1024 * 1024
  /// About the longest line that the curl command reads. A cookie that a server sets is shorter.
  private static let maximumCookieSize = 5000

  /// The cookies of the file, in its order.
  func cookies() throws(TransferError) -> [Cookie] {
    let bytes: [UInt8]
    do throws(MultipartError) {
      bytes = try PartBody.file(path).layout().bytes(limit: Self.maximumSize)
    } catch {
      throw TransferError(error)
    }
    var cookies: [Cookie] = []
    // The file may be the head of a response, as curl's -D writes it: then only the cookies count.
    let isHead = bytes.starts(with: "HTTP/".utf8)
    // In a `String`, CR LF would be one character, which is no line feed.
    for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let line = line.last == 0x0D ? line.dropLast() : line
      if Self.isComment(line) || isHead && !Self.isHeader(line) { continue }
      try check(line, number: index + 1)
      // As in curl, a line that is cut off, or whose numbers are none, has no cookie.
      guard let cookie = Self.isHeader(line) ? cookie(ofHeader: line) : cookie(of: line) else { continue }
      guard !cookie.domain.isEmpty else { throw .cookieOfNoHost(line: index + 1, of: path) }
      cookies.append(cookie)
    }
    return cookies
  }

  /// Whether a line is a comment. An empty line counts as one.
  private static func isComment(_ line: ArraySlice<UInt8>) -> Bool {
    line.allSatisfy { $0 == 0x20 || $0 == 0x09 }
      || line.first == UInt8(ascii: "#") && !line.starts(with: httpOnlyMark)
  }

  private static func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
    String(decoding: line.prefix(headerStart.utf8.count), as: UTF8.self).lowercased() == headerStart
  }

  private static let headerStart = "set-cookie:"

  /// Checks a line. Every line that is no cookie is an error, so that a file in another format is not mistaken for a file
  /// without cookies.
  private func check(_ line: ArraySlice<UInt8>, number: Int) throws(TransferError) {
    let isHeader = Self.isHeader(line)
    // The last of these pieces has the name and the value, even if the line has no path.
    let pieces = line.split(separator: 0x09, maxSplits: 4, omittingEmptySubsequences: false)
    guard isHeader || pieces.count == 5 && pieces[4].contains(0x09), !line.contains(0) else {
      throw .notACookie(line: number, of: path)
    }
    // A server could refuse every request with such a cookie.
    guard isHeader || !line.contains(where: \.isControlExceptTab) else {
      throw .controlCharacterInCookie(line: number, of: path)
    }
    guard isHeader || pieces[4].count <= Self.maximumCookieSize else {
      throw .cookieTooLong(line: number, of: path, limit: Self.maximumCookieSize)
    }
  }

  // MARK: Lines

  private static let httpOnlyMark = Array("#HttpOnly_".utf8)
  private static let (yes, no) = (Array("TRUE".utf8), Array("FALSE".utf8))

  /// A cookie as a line of a file, as curl writes it: the domain, whether it has other hosts, the path, whether the cookie needs
  /// encryption, when it expires, its name and its value.
  static func line(of cookie: Cookie) -> [UInt8] {
    let domain = (cookie.isHostOnly ? [] : [UInt8(ascii: ".")]) + cookie.domain
    let fields = [
      (cookie.isHTTPOnly ? httpOnlyMark : []) + domain, cookie.isHostOnly ? no : yes, cookie.path,
      cookie.isSecure ? yes : no, Array("\(cookie.expiry ?? 0)".utf8), cookie.name, cookie.value,
    ]
    return Array(fields.joined(separator: [0x09]))
  }

  /// The cookie of a line in Netscape's format; nil if the line has none.
  private func cookie(of line: ArraySlice<UInt8>) -> Cookie? {
    let isHTTPOnly = line.starts(with: Self.httpOnlyMark)
    let line = isHTTPOnly ? line.dropFirst(Self.httpOnlyMark.count) : line
    var fields = line.split(separator: 0x09, omittingEmptySubsequences: false)
    // curl takes several tabs for one. A line of seven fields is read as it stands, because some programs write an empty path,
    // an empty date or an empty name.
    if fields.count != 7 || Self.isWord(fields[2]) { fields = line.split(separator: 0x09) }
    // Some programs leave out the path.
    if fields.count > 2, Self.isWord(fields[2]) { fields.insert([UInt8(ascii: "/")], at: 2) }
    if fields.count == 6 { fields.append([]) }
    guard fields.count == 7, let expiry = Self.expiry(fields[4]) else { return nil }
    let domain = fields[0].first == UInt8(ascii: ".") ? fields[0].dropFirst() : fields[0]
    let path = fields[2].withoutQuotes.first == UInt8(ascii: "/") ? Array(fields[2]) : [UInt8(ascii: "/")]
    var cookie = Cookie(
      name: Array(fields[5]), value: Array(fields[6]), domain: domain.map(\.asciiLowercased),
      isHostOnly: !Self.isTrue(fields[1]), path: path,
      isSecure: Self.isTrue(fields[3]), isHTTPOnly: isHTTPOnly, expiry: expiry == 0 ? nil : expiry)
    guard !domain.isEmpty, Cookie.isReadable(cookie.name, cookie.value),
      cookie.keepsPromiseOfName(namesDomain: false, namesPath: true)
    else { return nil }
    // No cookie is for all hosts below a public suffix. As for a server, it is for the host of that name.
    if !cookie.isHostOnly, isSuffix(cookie.domain) { cookie.isHostOnly = true }
    return cookie
  }

  private func isSuffix(_ domain: [UInt8]) -> Bool { suffixes.contain(String(decoding: domain, as: UTF8.self)) }

  private static func isWord(_ field: ArraySlice<UInt8>) -> Bool { field.elementsEqual(yes) || field.elementsEqual(no) }

  private static func isTrue(_ field: ArraySlice<UInt8>) -> Bool { field.map(\.asciiLowercased).elementsEqual("true".utf8) }

  /// When a cookie expires; 0 for a session cookie, nil if the field has no number. Fractions of a second are ignored.
  private static func expiry(_ field: ArraySlice<UInt8>) -> Int64? {
    field.isEmpty ? 0 : Int64(String(decoding: field.trimmingBlanks().prefix(while: \.isASCIIDigit), as: UTF8.self))
  }

  /// The cookie of a `Set-Cookie` header; nil if the line has none. Its domain is empty if nothing says which host it belongs to.
  ///
  /// The line may be the text of a server, and nothing says which one, so the domain may be any but a public suffix, and the cookie
  /// may be `Secure`.
  private func cookie(ofHeader line: ArraySlice<UInt8>) -> Cookie? {
    guard let set = SetCookie(line.dropFirst(Self.headerStart.utf8.count)) else { return nil }
    var isHostOnly = true
    if let domain = set.domain, addressBytes(String(decoding: domain, as: UTF8.self)) == nil {
      isHostOnly = isSuffix(domain)
      guard !isHostOnly || domain == host else { return nil }
    }
    let cookie = Cookie(
      name: set.name, value: set.value, domain: set.domain ?? host ?? [], isHostOnly: isHostOnly,
      path: set.path ?? [UInt8(ascii: "/")], isSecure: set.isSecure, isHTTPOnly: set.isHTTPOnly,
      expiry: set.expiry(now: now))
    return cookie.keepsPromiseOfName(namesDomain: set.domain != nil, namesPath: set.path != nil) ? cookie : nil
  }
}

extension TransferSession {
  /// Writes the session's cookies to a file in Netscape's format, which only its owner may read. Session cookies, which have no
  /// expiry date, are in the file, too. The file appears when it is complete.
  ///
  /// - Throws: `invalidSetting` if the session keeps no cookies; `cookiesUnusable` if the file can't be written, or if the path
  ///   names a device or a FIFO.
  public func saveCookies(to path: some LocalPathConvertible) throws(TransferError) {
    let text = try cookieText()
    let path = try Self.localPath(path)
    do {
      try path.checkReplaceable(or: "name a file")
      let file = try AtomicFile(for: path, permissions: 0o600)
      try text.withUnsafeBytes { try file.write($0) }
      try file.replace(path.name)
    } catch {
      throw .cookiesNotWritten(to: path, error)
    }
  }

  private static func localPath(
    _ path: some LocalPathConvertible
  ) throws(TransferError) -> LocalPath {
    do throws(MultipartError) { return try path.localPath() } catch { throw TransferError(error) }
  }

  /// The session's cookies in Netscape's format.
  ///
  /// - Throws: `invalidSetting` if the session keeps no cookies.
  package func cookieText() throws(TransferError) -> [UInt8] {
    guard let cookieJar else { throw .noCookiesKept }
    let lines = [Array("# Netscape HTTP Cookie File".utf8), []] + cookieJar.lines
    return Array(lines.joined(separator: [0x0A])) + [0x0A]
  }
}
