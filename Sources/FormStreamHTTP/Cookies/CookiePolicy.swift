public import FormStreamMultipart

/// Whether a session keeps cookies (RFC 6265bis).
///
/// Cookies are kept and sent by domain, path, age and `Secure`, and not for public suffixes such as `co.uk`, which libpsl knows. If
/// libpsl is not installed, only domains of one label, such as `com`, are refused as public suffixes. Cookies are secrets: no trace, error or record shows them. If a request has a `Cookie` header of its own, the header is sent in one line
/// with the session's cookies. The header is not sent to another origin.
public struct CookiePolicy: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case none
    case session(files: [LocalPath], withoutSessionCookies: Bool)
  }

  let kind: Kind

  /// The files whose cookies a session begins with.
  package var files: [LocalPath] { if case .session(let files, _) = kind { files } else { [] } }

  /// Whether libpsl is installed, which knows the public suffixes.
  package static var knowsPublicSuffixes: Bool { PublicSuffixes.installed != nil }

  /// No cookies are kept. A server's `Set-Cookie` is only in its response.
  public static let none = CookiePolicy(kind: .none)
  /// All requests of the session share their cookies.
  ///
  /// - Parameter file: a file whose cookies the session begins with, in Netscape's format, or with lines that begin with
  ///   `Set-Cookie:`. The file is not changed. ``TransferSession/saveCookies(to:)`` writes such a file. Nil if the session
  ///   begins with no cookies.
  public static func session(file: LocalPath? = nil) -> CookiePolicy {
    session(files: file.map { [$0] } ?? [])
  }

  /// All requests of the session share their cookies, and the session begins with those of a file.
  public static func session(file: String) -> CookiePolicy { .session(file: LocalPath(file)) }

  /// Like ``session(file:)``, with several files.
  ///
  /// - Parameter withoutSessionCookies: whether session cookies in the files, which have no expiry date, are left out.
  package static func session(
    files: [LocalPath], withoutSessionCookies: Bool = false
  ) -> CookiePolicy {
    CookiePolicy(kind: .session(files: files, withoutSessionCookies: withoutSessionCookies))
  }
}
