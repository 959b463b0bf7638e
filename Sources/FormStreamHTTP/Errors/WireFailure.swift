import FormStreamPlatform

/// What went wrong on the wire, in this project's own words, with the facts that decisions need. It doesn't depend on what drives
/// the connection.
struct WireFailure: Error, Equatable {
  let cause: Cause
  /// How the connection ended, as far as that is known.
  let ending: Ending
  /// The words of what drove the connection, for what has no words of its own.
  let detail: String

  enum Cause: Equatable {
    case hostNotFound(Lookup)
    case notConnected(SystemError?)
    case notConnectedInTime
    /// The interface or address at which connections are to begin can't be used.
    case interface
    case refusedByProxy(ProxyRefusal)
    case notEncrypted(TLSFailure)
    /// The connection ended during the TLS handshake.
    case handshakeCut
    /// The server knows none of the protocols that were offered in the handshake (RFC 7301 §3.2).
    case noCommonProtocol(TLSFailure)
    case certificate
    case publicKey
    case authoritiesFile
    case tlsFile(TLSFailure)
    /// The connection broke before the end of the response.
    case broken
    /// The connection ended without a byte of a response.
    case noResponse
    /// A kept connection had ended, or the exchange was ended by this program.
    case ended
    case malformed(Malformation)
    /// What the server sent is not valid HTTP/2, or it ended the request with this error.
    case malformedHTTP2(error: String?)
    /// The first header line looks like the continuation of another header.
    case foldedFirstHeader
    case outOfMemory
    case other
  }

  /// Whose address was looked up.
  enum Lookup {
    case server, proxy
    /// The server's, by this machine, because the SOCKS proxy takes only addresses.
    case serverForProxy
  }

  /// How a connection ended.
  enum Ending: Equatable {
    case closed, closedWithinHead, closedWithinResponse, requestEndedWithoutResponse
    case reset, notAcknowledged, noRoute, networkUnreachable
    /// The request was ended with an error of HTTP/2 (RFC 9113 §7). It isn't always known by whom.
    case http2Error(String)
    case notHTTP2, notTLS
  }

  /// What is wrong with a response.
  enum Malformation: Equatable {
    case noVersion, unknownVersion, status, nul, noColon, contentLength, chunks, coding, other
    /// Something else, as a sentence about the response.
    case described(String)
  }

  /// Why there is no encryption.
  struct TLSFailure: Equatable {
    enum Kind {
      /// The other side speaks none of the allowed versions of TLS.
      case versions
      /// What the other side sends is not TLS.
      case noTLS
      case other
    }

    let kind: Kind
    /// The library's reason, for people.
    let reason: String
  }
}

extension WireFailure.Ending {
  /// The reason why a connection broke, as a clause.
  var reason: String {
    switch self {
    case .closed: "the server closed it"
    case .closedWithinHead: "the server closed it within the head of its response"
    case .closedWithinResponse: "the server closed it before the end of the response"
    case .requestEndedWithoutResponse: "the server ended the request without a response"
    case .reset: "the server reset it"
    case .notAcknowledged: "nothing was acknowledged in time"
    case .noRoute: "there is no route to the host"
    case .networkUnreachable: "the network is unreachable"
    case .http2Error(let name): "the request was ended with the HTTP/2 error \(name)"
    case .notHTTP2: "what the server sent is not valid HTTP/2"
    case .notTLS: "what the server sent is not valid TLS"
    }
  }
}

extension WireFailure.Malformation {
  /// What is wrong, as a sentence about the response.
  var reason: String {
    switch self {
    case .noVersion: "it doesn't begin with HTTP/ and a version"
    case .unknownVersion: "its version of HTTP is not supported"
    case .status: "its status is not valid"
    case .nul: "a header has a NUL"
    case .noColon: "a header has no colon"
    case .contentLength: "its Content-Length is not valid"
    case .chunks: "its chunks are not valid"
    case .coding: "its transfer coding is not valid"
    case .other: "it could not be read"
    case .described(let reason): reason
    }
  }
}

extension WireFailure {
  /// Whether bytes of a response had arrived that can't be read.
  var hasRejectedBytes: Bool {
    switch cause {
    case .malformed, .outOfMemory: true
    default: false
    }
  }

  /// Whether a proxy demands credentials, or refused the credentials that it got.
  var areProxyCredentialsRefused: Bool {
    if case .refusedByProxy(let refusal) = cause { refusal.areCredentialsRefused } else { false }
  }
}
