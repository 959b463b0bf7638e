public import FormStreamMultipart
import FormStreamPlatform

/// A file of cookies, in the format of Netscape's browser.
enum CookieFile {
  private static let maximumSize = 16 * 1024 * 1024
  /// About the longest line that the curl command reads. If the first cookie has more than 8 KiB, libcurl 7.88 writes a header
  /// line without its end, so that the next header is read as the cookie.
  private static let maximumCookieSize = 5000

  /// The cookie lines of a file, as bytes: a cookie's value need not be UTF-8.
  static func lines(of path: LocalPath) throws(TransferError) -> [[UInt8]] {
    let bytes: [UInt8]
    do throws(MultipartError) {
      bytes = try PartBody.file(path).layout().bytes(limit: maximumSize)
    } catch {
      throw TransferError(error)
    }
    var lines: [[UInt8]] = []
    // The file may be the head of a response, as curl's -D writes it: then only the cookies count.
    let isHead = bytes.starts(with: "HTTP/".utf8)
    // In a `String`, CR LF would be one character, which is no line feed.
    for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let line = line.last == 0x0D ? line.dropLast() : line
      if isComment(line) || isHead && !isHeader(line) { continue }
      try check(line, number: index + 1, of: path)
      lines.append(Array(line))
    }
    return lines
  }

  /// Whether the cookie of a line has expired, so that it is not sent any more. libcurl keeps an expired cookie until the next
  /// time that it searches for cookies.
  static func hasEnded(_ line: [UInt8]) -> Bool {
    let fields = line.split(separator: 0x09, maxSplits: 5, omittingEmptySubsequences: false)
    guard fields.count == 6, let end = Int64(String(decoding: fields[4], as: UTF8.self)), end != 0
    else { return false }
    return end < timeSince1970().components.seconds
  }

  /// Whether a line is a comment. An empty line counts as one.
  private static func isComment(_ line: ArraySlice<UInt8>) -> Bool {
    line.allSatisfy { $0 == 0x20 || $0 == 0x09 }
      || line.first == UInt8(ascii: "#") && !line.starts(with: "#HttpOnly_".utf8)
  }

  private static func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
    String(decoding: line.prefix(11), as: UTF8.self).lowercased() == "set-cookie:"
  }

  /// Checks a line. Every line that is no cookie is an error, so that a file in another format is not mistaken for a file
  /// without cookies. libcurl takes some words, such as `ALL`, for commands.
  private static func check(
    _ line: ArraySlice<UInt8>, number: Int, of path: LocalPath
  ) throws(TransferError) {
    let isHeader = Self.isHeader(line)
    // The last of these pieces has the name and the value, even if the line has no path.
    let pieces = line.split(separator: 0x09, maxSplits: 4, omittingEmptySubsequences: false)
    guard isHeader || pieces.count == 5 && pieces[4].contains(0x09), !line.contains(0) else {
      throw .notACookie(line: number, of: path)
    }
    // libcurl itself checks the length of cookies that a server sets.
    guard isHeader || pieces[4].count <= maximumCookieSize else {
      throw .cookieTooLong(line: number, of: path, limit: maximumCookieSize)
    }
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
    let lines = [Array("# Netscape HTTP Cookie File".utf8), []] + (try cookieJar.lines())
    return Array(lines.joined(separator: [0x0A])) + [0x0A]
  }
}
