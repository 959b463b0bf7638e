import FormStreamPlatform

/// The credentials that servers have refused.
final class RefusedCredentials: Sendable {
  private struct Place: Hashable {
    let credentials: Credentials
    let origin: HTTPURL.Origin
  }

  private static let maximumCount = 1024
  private let places = Guarded<Set<Place>>([])

  func note(_ credentials: Credentials, at origin: HTTPURL.Origin) {
    places.withLock { places in
      if places.count >= Self.maximumCount { places = [] }
      places.insert(Place(credentials: credentials, origin: origin))
    }
  }

  func contains(_ credentials: Credentials, at origin: HTTPURL.Origin) -> Bool {
    places.withLock { $0.contains(Place(credentials: credentials, origin: origin)) }
  }
}

extension TransferSession {
  /// Whether the server of a request has refused its credentials, as far as requests of this session show.
  package func hasSeenRefusal(ofCredentialsOf request: TransferRequest) -> Bool {
    request.ownCredentials(configuration.netrc).map {
      refusedCredentials.contains($0, at: request.url.origin)
    } ?? false
  }
}

extension TransferError {
  static func credentialsRefusedBefore(_ url: HTTPURL) -> TransferError {
    TransferError(
      .credentialsRefused, on: url.description,
      "The credentials of the request to \(url) were refused before by \(url.origin), and are not sent there again: check "
        + "them.")
  }
}
