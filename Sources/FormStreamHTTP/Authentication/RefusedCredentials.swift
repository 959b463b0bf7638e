import FormStreamPlatform

/// The credentials that servers have refused, and the proxies that have refused or demanded credentials.
final class RefusedCredentials: Sendable {
  private struct Place: Hashable {
    let credentials: Credentials
    let origin: HTTPURL.Origin
  }

  private static let maximumCount = 1024
  private let places = Guarded<Set<Place>>([])
  private let proxies = Guarded<Set<Proxy>>([])

  func note(_ credentials: Credentials, at origin: HTTPURL.Origin) {
    places.withLock { places in
      if places.count >= Self.maximumCount { places = [] }
      places.insert(Place(credentials: credentials, origin: origin))
    }
  }

  func contains(_ credentials: Credentials, at origin: HTTPURL.Origin) -> Bool {
    places.withLock { $0.contains(Place(credentials: credentials, origin: origin)) }
  }

  func note(_ proxy: Proxy) {
    proxies.withLock { _ = $0.insert(proxy) }
  }

  func contains(_ proxy: Proxy) -> Bool {
    proxies.withLock { $0.contains(proxy) }
  }
}

extension TransferSession {
  /// Whether the server of a request has already refused the request's credentials in this session.
  package func hasSeenRefusal(ofCredentialsOf request: TransferRequest) -> Bool {
    request.ownCredentials(configuration.netrc).map {
      refusedCredentials.contains($0, at: request.url.origin)
    } ?? false
  }

  /// Whether the proxy of a request has already refused or demanded credentials in this session.
  package func hasSeenRefusal(byProxyOf request: TransferRequest) -> Bool {
    guard configuration.usesNetwork,
      let proxy = try? configuration.proxy.proxy(for: request.url.origin)
    else { return false }
    return refusedCredentials.contains(proxy)
  }
}
