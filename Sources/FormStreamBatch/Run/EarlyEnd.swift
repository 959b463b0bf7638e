/// Why a run was ended before all files were begun: each further file would have failed, too.
public enum EarlyEnd: Hashable, Sendable {
  /// Nothing accepts connections.
  case unreachable
  /// The server has refused all requests for ten minutes, because it is overloaded: with 429 or 503.
  case overloaded
  /// The server refused the credentials.
  case credentialsRefused
  /// The proxy refused the user and password, or demanded them.
  case proxyCredentialsRefused
  /// The server refused the first requests with this status: 401 or 403.
  case accessRefused(status: Int)
  /// As many files failed as the settings allow.
  case tooManyFailures
}
