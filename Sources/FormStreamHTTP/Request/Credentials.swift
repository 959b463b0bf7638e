import FormStreamPlatform

/// The credentials with which a request authenticates itself. They are never shown in errors, traces or records.
public struct Credentials: Sendable, Hashable, CustomStringConvertible {
  enum Kind: Hashable, Sendable {
    case basic, bearer, digest
    /// Digest if the server offers it, otherwise Basic.
    case strongestOffered
  }

  let kind: Kind
  /// Whether the credentials are sent only after the server has asked for them.
  package let waitsForChallenge: Bool
  /// The user; empty for a token.
  private let hiddenUser: Hidden<String>
  /// The password, or the token.
  private let hiddenSecret: Hidden<String>

  private init(_ kind: Kind, _ user: String, _ secret: String, waitsForChallenge: Bool) {
    self.kind = kind
    self.waitsForChallenge = waitsForChallenge
    (hiddenUser, hiddenSecret) = (Hidden(user), Hidden(secret))
  }

  /// A user and a password (RFC 7617). They are not encrypted by themselves, so use https.
  ///
  /// - Parameters:
  ///   - user: the user's name.
  ///   - password: the password.
  ///   - onChallenge: whether the user and the password are sent only after the server has asked for them: the request
  ///     is then sent a second time. Later requests to the same part of the server send them at once.
  public static func basic(
    user: String, password: String, onChallenge: Bool = false
  ) -> Credentials {
    Credentials(.basic, user, password, waitsForChallenge: onChallenge)
  }

  /// A bearer token (RFC 6750).
  ///
  /// - Parameters:
  ///   - token: the token.
  ///   - onChallenge: as for ``basic(user:password:onChallenge:)``.
  public static func bearer(_ token: String, onChallenge: Bool = false) -> Credentials {
    Credentials(.bearer, "", token, waitsForChallenge: onChallenge)
  }

  /// A user and a password for Digest authentication (RFC 7616), which doesn't send the password. If the server offers only
  /// other schemes, no credentials are sent.
  ///
  /// The first request is sent completely, without credentials. After the server's 401, the request is sent again. A body
  /// that can be read only once is sent only after the server has asked for it (`Expect: 100-continue`). Later requests of
  /// the session answer the same challenge at once.
  public static func digest(user: String, password: String) -> Credentials {
    Credentials(.digest, user, password, waitsForChallenge: true)
  }

  /// A user and a password for the strongest scheme that the server offers: Digest, otherwise Basic. They are sent after
  /// the server has asked for them, as with ``digest(user:password:)``.
  public static func strongestOffered(user: String, password: String) -> Credentials {
    Credentials(.strongestOffered, user, password, waitsForChallenge: true)
  }

  /// This user and password, for another scheme.
  package func using(_ scheme: PasswordScheme) -> Credentials {
    switch scheme {
    case .basic: .basic(user: user, password: secret)
    case .digest: .digest(user: user, password: secret)
    case .strongestOffered: .strongestOffered(user: user, password: secret)
    }
  }

  var user: String { hiddenUser.value }
  var secret: String { hiddenSecret.value }

  /// The value of the `Authorization` header for a scheme that sends the secret itself.
  func header(_ scheme: AnsweredScheme) -> String {
    scheme == .bearer ? "Bearer \(secret)" : "Basic " + base64(Array("\(user):\(secret)".utf8))
  }

  /// The kind of credentials, with everything else masked.
  public var description: String {
    switch kind {
    case .basic: "Basic ***"
    case .bearer: "Bearer ***"
    case .digest: "Digest ***"
    case .strongestOffered: "Digest or Basic ***"
    }
  }
}

/// How a user and a password are sent.
public enum PasswordScheme: String, Sendable, CaseIterable {
  /// Basic, at once.
  case basic
  /// Digest, after the server has asked for it.
  case digest
  /// Nothing until the server asks for credentials. Then Digest if the server offers it, otherwise Basic.
  case strongestOffered
}

/// A scheme that answers a challenge by sending a secret.
enum AnsweredScheme: Sendable { case basic, bearer }
