public import FormStreamMultipart

/// Whether a session keeps cookies (RFC 6265).
///
/// They are kept and sent by libcurl's rules: by domain, path, age and `Secure`, and not for public suffixes. They are
/// secrets: no trace, error or record shows them. A `Cookie` header that a request has itself is sent in one line with
/// them, and not to another origin.
public struct CookiePolicy: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case none
    case session(file: LocalPath?)
  }

  let kind: Kind

  /// The file that a session begins with; nil if there is none.
  package var file: LocalPath? { if case .session(let file) = kind { file } else { nil } }

  /// No cookies are kept. A server's `Set-Cookie` is only in its response.
  public static let none = CookiePolicy(kind: .none)
  /// All requests of the session share their cookies.
  ///
  /// - Parameter file: a file in the format of Netscape, or of lines that begin with `Set-Cookie:`, that the session begins
  ///   with; it is not changed. ``TransferSession/saveCookies(to:)`` writes one. Nil if the session begins with none.
  public static func session(file: LocalPath? = nil) -> CookiePolicy {
    CookiePolicy(kind: .session(file: file))
  }
}
