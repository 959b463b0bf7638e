// The only file of this module that talks to libmagic.

import CFormStreamMagic
import FormStreamMultipart
import FormStreamPlatform

/// libmagic's database, and the few cookies that read it.
///
/// A cookie serves one caller at a time and costs megabytes, so there are at most two, made when they are
/// wanted; they share one mapping of the database. A third caller waits.
final class Magic: Sendable {
  private static let maximumCookies = 2
  /// Held while libmagic's path is asked for and copied: where `~/.magic` is there, libmagic keeps the
  /// answer in one place, and frees it when it is asked again.
  private static let path = Guarded(())

  private let database: MappedFile
  private let flags: CInt
  private let cookies: Guarded<Cookies>

  private struct Cookies {
    /// Those that no thread uses.
    var idle: [Cookie]
    var inUse = 0
  }

  /// Opens the database that libmagic would use, or another.
  ///
  /// - Parameter includesCharset: whether types bear what text is encoded in.
  /// - Throws: `databaseUnusable`, where there is none, or libmagic does not take it.
  init(_ path: LocalPath?, includesCharset: Bool) throws(MediaTypesError) {
    flags = MAGIC_MIME_TYPE | (includesCharset ? MAGIC_MIME_ENCODING : 0) | MAGIC_NO_CHECK_COMPRESS
    let path = try Self.place(of: path)
    do {
      database = try MappedFile(path, limit: 256 * 1024 * 1024)
    } catch {
      throw MediaTypesError(
        .databaseUnusable, on: path.description,
        "libmagic's database \(path.description.quoted) can't be read: \(error). Install libmagic-mgc, or "
          + "name another.", underlying: error)
    }
    // Tried at once, so that a bad one is reported before anything is sniffed.
    let cookie: Cookie
    do {
      cookie = try Cookie(reading: database, flags: flags)
    } catch {
      throw MediaTypesError(
        .databaseUnusable, on: path.description,
        "The file \(path.description.quoted) is no database that libmagic takes: \(error.description). "
          + "Compile one with \"file -C\", or name another.")
    }
    cookies = Guarded(Cookies(idle: [cookie]))
  }

  /// What libmagic calls bytes; nil where it fails.
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

  /// The database that is named, or the first compiled one on libmagic's own path.
  ///
  /// C: `magic_getpath`
  private static func place(of path: LocalPath?) throws(MediaTypesError) -> LocalPath {
    if let path { return path }
    // A list with colons, of names that may lack the ending of compiled ones. `MAGIC` in the environment
    // goes before it.
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

/// Why libmagic does not take a database, in its own words.
private struct MagicRefusal: Error {
  let description: String
}

/// A libmagic handle with one owner.
private final class Cookie: @unchecked Sendable {
  // A cookie is used by whoever has taken it out of `Magic.idle`, and by nobody else meanwhile.
  private let handle: magic_t

  /// C: `magic_open`, `magic_load_buffers`
  init(reading database: MappedFile, flags: CInt) throws(MagicRefusal) {
    // libmagic would turn a database of the other byte order around in place, under the other cookie.
    guard database.bytes.count >= 4,
      database.bytes.loadUnaligned(as: UInt32.self) == 0xF11E_041C
    else {
      throw MagicRefusal(description: "it does not begin like one, or is from another machine")
    }
    guard let handle = magic_open(flags) else {
      throw MagicRefusal(description: "there is no memory for it")
    }
    var start = UnsafeMutableRawPointer(mutating: database.bytes.baseAddress)
    var size = database.bytes.count
    guard magic_load_buffers(handle, &start, &size, 1) == 0 else {
      let reason = magic_error(handle).map { String(cString: $0) }
      magic_close(handle)
      throw MagicRefusal(description: reason ?? "it does not say why")
    }
    self.handle = handle
  }

  deinit { magic_close(handle) }

  /// C: `magic_buffer`
  func type(of bytes: UnsafeRawBufferPointer) -> String? {
    magic_buffer(handle, bytes.baseAddress, bytes.count).map { String(cString: $0) }
  }
}
