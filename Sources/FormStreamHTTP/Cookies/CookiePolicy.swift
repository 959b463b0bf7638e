public import FormStreamMultipart

/// Whether a session keeps cookies (RFC 6265bis).
///
/// Cookies are kept and sent by domain, path, age and `Secure`, and not for public suffixes such as `co.uk`, which libpsl knows. If
/// libpsl is not installed, only domains of one label, such as `com`, are refused as public suffixes, and nothing says so. Cookies
/// are secrets: no trace, error or record shows them. If a request has a `Cookie` header of its own, the header is sent in one line
/// with the session's cookies. The header is not sent to another origin.
public struct CookiePolicy: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case none
    case session(files: [LocalPath], withoutSessionCookies: Bool, host: String?)
  }

  let kind: Kind

  /// The files whose cookies a session begins with.
  package var files: [LocalPath] { if case .session(let files, _, _) = kind { files } else { [] } }

  /// The host of the cookies in files that name none; nil if there may be no such cookies.
  package var host: String? { if case .session(_, _, let host) = kind { host } else { nil } }

  /// Whether libpsl is installed, which knows the public suffixes.
  package static var knowsPublicSuffixes: Bool { PublicSuffixes.installed != nil }

  /// No cookies are kept. A server's `Set-Cookie` is only in its response.
  public static let none = CookiePolicy(kind: .none)
  /// All requests of the session share their cookies.
  ///
  /// - Parameters:
  ///   - file: a file whose cookies the session begins with, in Netscape's format, or with lines that begin with `Set-Cookie:`. The
  ///     file is not changed. ``TransferSession/saveCookies(to:)`` writes such a file. Nil if the session begins with no cookies.
  ///   - host: the host that a `Set-Cookie:` line without `Domain` belongs to, as in a URL. If it is nil, such a line is an error: the
  ///     session can't know whose cookie it is.
  public static func session(file: LocalPath? = nil, host: String? = nil) -> CookiePolicy {
    session(files: file.map { [$0] } ?? [], host: host)
  }

  /// All requests of the session share their cookies, and the session begins with those of a file; see ``session(file:host:)``.
  public static func session(file: String, host: String? = nil) -> CookiePolicy {
    .session(file: LocalPath(file), host: host)
  }

  /// Like ``session(file:host:)``, with several files.
  ///
  /// - Parameter withoutSessionCookies: whether session cookies in the files, which have no expiry date, are left out.
  package static func session(
    files: [LocalPath], withoutSessionCookies: Bool = false, host: String? = nil
  ) -> CookiePolicy {
    let host = host.map { addressBytes($0) == nil ? CookiePlace.host(named: $0) : $0.lowercased() }
    return CookiePolicy(kind: .session(files: files, withoutSessionCookies: withoutSessionCookies, host: host))
  }

  /// Like ``session(file:host:)``, with several files. The host is that of the first request, whatever a session sends first.
  ///
  /// - Parameter first: nil if there is no request.
  package static func session(
    files: [LocalPath], withoutSessionCookies: Bool, first: TransferRequest?
  ) -> CookiePolicy {
    let place = first.map { CookiePlace($0.url, hostHeader: $0.headers["Host"]) }
    let host = place.map { String(decoding: $0.host, as: UTF8.self) }
    return CookiePolicy(kind: .session(files: files, withoutSessionCookies: withoutSessionCookies, host: host))
  }
}
