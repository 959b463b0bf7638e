// The only file of this module that calls libmagic.

import CFormStreamMagic
import FormStreamMultipart
import FormStreamPlatform

/// libmagic's database, and the handles ("cookies") that read it.
///
/// A cookie serves one caller at a time and uses megabytes. So there are at most two cookies. They are created when they are
/// needed, and share one mapping of the database. A third caller waits.
final class Magic: Sendable {
  private static let maximumCookies = 2
  /// Held while the path of the database is read: if `~/.magic` exists, libmagic keeps the path in
  /// a global variable, and frees it at the next call.
  private static let path = Guarded(())

  private let database: MappedFile
  private let flags: CInt
  private let cookies: Guarded<Cookies>

  private struct Cookies {
    /// The cookies that no thread uses.
    var idle: [Cookie]
    var inUse = 0
  }

  /// Opens a database.
  ///
  /// - Parameters:
  ///   - path: the database; nil means the one that libmagic uses by default.
  ///   - includesCharset: whether the types of text include a charset.
  /// - Throws: `databaseUnusable` if there is no database, or it is not valid.
  init(_ path: LocalPath?, includesCharset: Bool) throws(MediaTypesError) {
    flags = MAGIC_MIME_TYPE | (includesCharset ? MAGIC_MIME_ENCODING : 0) | MAGIC_NO_CHECK_COMPRESS
    let path = try Self.location(of: path)
    do {
      database = try MappedFile(path, limit: 256 * 1024 * 1024)
    } catch {
      throw MediaTypesError(
        .databaseUnusable, on: path.description,
        "libmagic's database \(path.description.quoted) can't be read: \(error). Install libmagic-mgc, or "
          + "name another.", underlying: error)
    }
    // A cookie is created now, so that an invalid database is reported before any file is read.
    let cookie: Cookie
    do {
      cookie = try Cookie(reading: database, flags: flags)
    } catch {
      throw MediaTypesError(
        .databaseUnusable, on: path.description,
        "The file \(path.description.quoted) is not a database that libmagic can use: \(error.description). "
          + "Compile one with \"file -C\", or name another.")
    }
    cookies = Guarded(Cookies(idle: [cookie]))
  }

  /// The type that libmagic detects; nil if it fails.
  func type(of bytes: UnsafeRawBufferPointer) -> String? {
    let idle = cookies.waitUntil({ $0.inUse < Self.maximumCookies }) { cookies in
      cookies.inUse += 1
      return cookies.idle.popLast()
    }
    let cookie = idle ?? (try? Cookie(reading: database, flags: flags))
    defer {
      cookies.withLock { cookies in
        cookies.inUse -= 1
        if let cookie { cookies.idle.append(cookie) }
      }
    }
    return cookie?.type(of: bytes)
  }

  /// The given database, or the first compiled one in libmagic's search path.
  ///
  /// C: `magic_getpath`
  private static func location(of path: LocalPath?) throws(MediaTypesError) -> LocalPath {
    if let path { return path }
    // libmagic's search path has colons between its names. A name may lack the suffix of compiled databases. The environment
    // variable `MAGIC` replaces the search path.
    let list =
      Self.path.withLock { _ in magic_getpath(nil, 0).map { String(cString: $0) } }
      ?? "/usr/share/misc/magic"
    for name in list.split(separator: ":") {
      for path in [LocalPath("\(name).mgc"), LocalPath(String(name))]
      where path.lastComponent.hasSuffix(".mgc") && isReadable(path) {
        return path
      }
    }
    throw MediaTypesError(
      .databaseUnusable, on: list,
      "libmagic's database is not in \(list.quoted): install libmagic-mgc, or name another.")
  }
}

/// Why libmagic can't use a database.
private struct MagicRefusal: Error {
  let description: String
}

/// A libmagic handle with one owner.
private final class Cookie: @unchecked Sendable {
  // Only the thread that removed the cookie from `idle` uses it.
  private let handle: magic_t

  /// C: `magic_open`, `magic_load_buffers`
  init(reading database: MappedFile, flags: CInt) throws(MagicRefusal) {
    // libmagic would convert a database of the other byte order in place, while the other cookie
    // reads it.
    guard database.bytes.count >= 4,
      database.bytes.loadUnaligned(as: UInt32.self) == 0xF11E_041C
    else {
      throw MagicRefusal(
        description: "it has another format, or is from a machine with another byte order")
    }
    guard let handle = magic_open(flags) else {
      throw MagicRefusal(description: "there is not enough memory")
    }
    var start = UnsafeMutableRawPointer(mutating: database.bytes.baseAddress)
    var size = database.bytes.count
    guard magic_load_buffers(handle, &start, &size, 1) == 0 else {
      let reason = magic_error(handle).map { String(cString: $0) }
      magic_close(handle)
      throw MagicRefusal(description: reason ?? "it gives no reason")
    }
    self.handle = handle
  }

  deinit { magic_close(handle) }

  /// C: `magic_buffer`
  func type(of bytes: UnsafeRawBufferPointer) -> String? {
    magic_buffer(handle, bytes.baseAddress, bytes.count).map { String(cString: $0) }
  }
}
