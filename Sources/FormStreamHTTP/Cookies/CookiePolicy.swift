public import FormStreamMultipart

/// Whether a session keeps cookies (RFC 6265).
///
/// They are kept and sent by libcurl's rules: by domain, path, age and `Secure`, and not for public suffixes. They are
/// secrets: no trace, error or record shows them. A `Cookie` header that a request has itself is sent in one line with
/// them, and not to another origin.
public struct CookiePolicy: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case none
    case session(files: [LocalPath], withoutSessionCookies: Bool)
  }

  let kind: Kind

  /// The files that a session begins with.
  package var files: [LocalPath] { if case .session(let files, _) = kind { files } else { [] } }

  /// No cookies are kept. A server's `Set-Cookie` is only in its response.
  public static let none = CookiePolicy(kind: .none)
  /// All requests of the session share their cookies.
  ///
  /// - Parameter file: a file in the format of Netscape, or of lines that begin with `Set-Cookie:`, that the session begins
  ///   with; it is not changed. ``TransferSession/saveCookies(to:)`` writes one. Nil if the session begins with none.
  public static func session(file: LocalPath? = nil) -> CookiePolicy {
    session(files: file.map { [$0] } ?? [])
  }

  /// Like ``session(file:)``, with several files.
  ///
  /// - Parameter withoutSessionCookies: whether the cookies in the files that have no end are left out.
  package static func session(
    files: [LocalPath], withoutSessionCookies: Bool = false
  ) -> CookiePolicy {
    CookiePolicy(kind: .session(files: files, withoutSessionCookies: withoutSessionCookies))
  }
}
