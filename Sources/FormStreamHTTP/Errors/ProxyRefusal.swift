/// Why a proxy made no connection to the server.
enum ProxyRefusal: Equatable {
  /// The status of its response to CONNECT.
  case status(Int)
  case socks(SOCKS)

  /// The reasons of SOCKS proxies (RFC 1928 §6, and the responses of SOCKS4).
  enum SOCKS {
    case generalFailure, notAllowed, networkUnreachable, hostUnreachable, connectionRefused, expired, noConnecting
    case otherAddresses, requestRefused, noIdentd, otherUserInIdentd, credentialsNotAccepted, credentialsRefused, longUser
    case longPassword, longHost, otherProtocol, closed, unknown
  }

  /// Whether the proxy may make a connection later.
  var isTransient: Bool {
    switch self {
    case .status(let status): RetryPolicy.temporaryTunnelRefusals.contains(status)
    case .socks(let reason):
      switch reason {
      case .generalFailure, .networkUnreachable, .hostUnreachable, .connectionRefused, .expired, .requestRefused, .closed,
        .unknown:
        true
      case .notAllowed, .noConnecting, .otherAddresses, .noIdentd, .otherUserInIdentd, .credentialsNotAccepted,
        .credentialsRefused, .longUser, .longPassword, .longHost, .otherProtocol:
        false
      }
    }
  }

  /// Whether the proxy demands credentials, or refused the credentials that it got.
  var areCredentialsRefused: Bool {
    self == .status(407) || self == .socks(.credentialsNotAccepted) || self == .socks(.credentialsRefused)
  }

  /// Whether the server at the proxy's address doesn't speak SOCKS.
  var isOfOtherProtocol: Bool { self == .socks(.otherProtocol) }

  /// The reason, as a clause about the proxy.
  func reason(of proxy: Proxy?) -> String {
    switch self {
    case .status(let status): "it responded \(status) to CONNECT"
    case .socks(let reason):
      switch reason {
      case .generalFailure: "it failed, and gives no reason"
      case .notAllowed: "its rules don't allow it"
      case .networkUnreachable: "the network can't be reached from there"
      case .hostUnreachable: "the host can't be reached from there"
      case .connectionRefused: "nothing is listening there"
      case .expired: "the way to the server took too long"
      case .noConnecting: "it doesn't know the command to connect"
      case .otherAddresses: "it doesn't connect to addresses of this kind"
      case .requestRefused: "it refused the request, or could not carry it out"
      case .noIdentd: "it asks identd on this machine for the user, and gets no response"
      case .otherUserInIdentd: "identd on this machine names another user"
      case .credentialsNotAccepted:
        proxy?.credentials == nil
          ? "it demands a user and a password" : "it doesn't accept users with passwords"
      case .credentialsRefused: "it refuses the user and the password"
      case .longUser: "the user is longer than SOCKS allows"
      case .longPassword: "the password is longer than SOCKS allows"
      case .longHost: "the name of the host is longer than SOCKS allows"
      case .otherProtocol: "what is there doesn't speak \(proxy?.kind.protocolName ?? "SOCKS")"
      case .closed: "it closed the connection"
      case .unknown: "it gives an unknown reason"
      }
    }
  }
}
