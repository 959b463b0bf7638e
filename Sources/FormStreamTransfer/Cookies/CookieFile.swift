public import FormStreamMultipart
import FormStreamPlatform

/// A file of cookies, in the format of Netscape's browser.
enum CookieFile {
  private static let maximumSize = 16 * 1024 * 1024

  /// The lines of a file that are cookies.
  static func lines(of path: LocalPath) throws(TransferError) -> [String] {
    let bytes: [UInt8]
    do throws(MultipartError) {
      bytes = try PartBody.file(path).layout().bytes(limit: maximumSize)
    } catch {
      throw TransferError(error)
    }
    return try lines(in: String(decoding: bytes, as: UTF8.self), of: path)
  }

  /// Every other line is an error: a file in another format would otherwise be taken for one without cookies. libcurl
  /// takes some words, such as `ALL`, for commands.
  private static func lines(
    in text: String, of path: LocalPath
  ) throws(TransferError) -> [String] {
    var lines: [String] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let line = line.hasSuffix("\r") ? line.dropLast() : line
      let isComment = line.hasPrefix("#") && !line.hasPrefix("#HttpOnly_")
      if isComment || line.allSatisfy({ $0 == " " || $0 == "\t" }) { continue }
      guard line.lowercased().hasPrefix("set-cookie:") || line.count(where: { $0 == "\t" }) >= 5
      else {
        throw TransferError(
          .cookiesUnusable, on: path.description,
          "Line \(index + 1) of the file \(path.description.quoted) is no cookie: a cookie has seven fields with tabs "
            + "between them, or begins with Set-Cookie:.")
      }
      lines.append(String(line))
    }
    return lines
  }
}

extension TransferSession {
  /// Writes the session's cookies to a file in Netscape's format, which only its owner may read. Cookies of the session,
  /// which have no end, are in it, too. The file appears when it is complete.
  ///
  /// - Throws: `invalidSetting` if the session keeps no cookies; `cookiesUnusable` if the file can't be written, or if what
  ///   has its name is a device or a FIFO.
  public func saveCookies(to path: LocalPath) throws(TransferError) {
    let text = try cookieText()
    do {
      try path.checkReplaceable(or: "name a file")
      let file = try AtomicFile(for: path, permissions: 0o600)
      try text.withUnsafeBytes { try file.write($0) }
      try file.replace(path.name)
    } catch {
      throw TransferError(
        .cookiesUnusable, on: path.description,
        "The cookies could not be written to \(path.description.quoted): \(error).",
        underlying: error)
    }
  }

  /// The session's cookies in Netscape's format.
  ///
  /// - Throws: `invalidSetting` if it keeps none.
  package func cookieText() throws(TransferError) -> [UInt8] {
    guard let cookieJar else {
      throw TransferError(
        .invalidSetting, on: "cookies",
        "The session keeps no cookies, so there are none to save: set its configuration's cookies.")
    }
    let lines = ["# Netscape HTTP Cookie File", ""] + (try cookieJar.lines())
    return Array(lines.joined(separator: "\n").utf8) + [0x0A]
  }
}
