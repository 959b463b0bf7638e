import FormStreamMultipart

/// How a request gets its connection, and which proxy it goes through.
extension TransferRun {
  /// Waits until the request may use a connection to the URL's origin, and is not paused.
  ///
  /// - Parameter mayShare: whether other requests may use the connection, too, if it speaks HTTP/2.
  nonisolated(nonsending) func takeConnection(
    to url: HTTPURL, mayShare: Bool, _ history: AttemptHistory
  ) async throws(TransferError) {
    let (origin, servers) = (url.origin, session.knownServers)
    let mayShare = mayShare && origin.scheme == "https"
    while true {
      if control.isPaused {
        // Other requests may use the connection meanwhile.
        connection.release()
        await control.waitWhilePaused()
      }
      let limit = timeToBegin(history.loop)
      let waitStart = ContinuousClock.now
      var isQueued = false
      let patience = request.options.timeLimits.stall
      let ending = await time.spend {
        await connection.take(
          origin, mayShare: { mayShare && servers.speaksHTTP2(origin) }, within: limit?.time,
          patience: patience, control
        ) {
          isQueued = true
          publisher.update { $0.phase = .queued }
        }
      }
      if ending == .heldUp, let patience { throw .connectionsHeldUp(patience, to: url) }
      guard ending == .taken, !control.isCancelled else {
        guard let limit, !control.isCancelled else { throw .cancelledBeforeResponse }
        throw .noConnectionInTime(limit.time, limit.setting, to: url)
      }
      // The wait for the connection took longer than its limit if the process was suspended meanwhile.
      if isQueued, let limit, limit.time < waitStart.duration(to: .now) {
        throw .noConnectionInTime(limit.time, limit.setting, to: url)
      }
      if isQueued { publisher.update { $0.phase = .connecting } }
      if !control.isPaused { return }
    }
  }

  /// How long an attempt may wait before it begins, and the setting with that limit; nil if there is no limit.
  private func timeToBegin(_ loop: RetryLoop) -> (time: Duration, setting: SettingName)? {
    let ofAttempt = time.left.map { (time: $0, setting: SettingName.attemptLimit) }
    let ofRetries = loop.timeLeft.map { (time: $0, setting: SettingName.retryTimeLimit) }
    return [ofAttempt, ofRetries].compactMap(\.self).min { $0.time < $1.time }
  }

  /// The proxy for requests to a URL; nil if there is none.
  func proxy(for url: HTTPURL) throws(TransferError) -> Proxy? {
    // Requests go only through the Unix socket, whatever proxy the environment names.
    guard session.configuration.usesNetwork else { return nil }
    return try session.configuration.proxy.proxy(for: url.origin)
  }

  /// The proxy for requests to a URL. Throws if the proxy has already refused its user and password, or demanded credentials.
  func usableProxy(for url: HTTPURL) throws(TransferError) -> Proxy? {
    guard let proxy = try proxy(for: url) else { return nil }
    if session.configuration.sharesCredentials, session.refusedCredentials.contains(proxy) {
      throw .refusedBefore(by: proxy, url)
    }
    return proxy
  }

  /// The server or the proxy that a connection for a URL leads to. Its version of HTTP is the version that counts. libcurl
  /// sends requests to all http URLs over the same connections to a proxy.
  func peer(of url: HTTPURL, _ proxy: Proxy?) -> HTTPURL.Origin {
    guard let proxy, proxy.isHTTP, url.origin.scheme == "http" else { return url.origin }
    return HTTPURL.Origin(scheme: proxy.kind.rawValue, host: proxy.host, port: proxy.port)
  }

  /// Whether a proxy receives the request and passes it on.
  func isPassedOn(_ url: HTTPURL, _ proxy: Proxy?) -> Bool {
    peer(of: url, proxy) != url.origin
  }
}
