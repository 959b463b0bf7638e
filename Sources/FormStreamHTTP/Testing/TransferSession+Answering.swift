import FormStreamPlatform

extension TransferSession {
  /// Answers the requests of a test.
  public typealias Answer = @Sendable (TestRequest) async throws -> TestResponse

  /// Creates a session for tests, whose requests reach no network: a function answers them.
  ///
  /// ```swift
  /// let session = try TransferSession { request in
  ///   guard request.method == .post else { return .status(405) }
  ///   let form = try await request.form()
  ///   return .json(#"{"title": "\#(form["title"]?.text ?? "")"}"#)
  /// }
  /// ```
  ///
  /// Everything but the network is real: forms are encoded, files are read, bodies are framed, progress is counted, requests are
  /// repeated and redirected, and outcomes are decided as for a real server. Requests to all hosts go to the function, also
  /// those to `https` URLs, without TLS. Settings for the network (proxies, addresses, TLS, HTTP/2) have no effect. Cookies are sent
  /// and kept as if `https` URLs were encrypted.
  ///
  /// The function is called when the head of a request has arrived. It may read the body, wait, or return at once. If it throws an
  /// error, the client gets a 500 with the error's description. It is called for several requests at the same time, if the
  /// program sends several. A function that is still running is cancelled when the session is released.
  ///
  /// - Throws: the errors of ``init(_:)``.
  public convenience init(
    _ configuration: Configuration = Configuration(), answering answer: @escaping Answer
  ) throws(TransferError) {
    var configuration = configuration
    let server = try TestServer(answer)
    configuration.testServer = server
    configuration.version = .http11
    configuration.proxy = .none
    configuration.unixSocket = nil
    do throws(TransferError) {
      try self.init(configuration)
    } catch {
      server.stop()
      throw error
    }
  }

  /// The requests that a test's function has got so far, in order; empty for other sessions. Up to 1 MiB of each body is kept,
  /// or as much as the function has read.
  public var answeredRequests: [TestRequest] { configuration.testServer?.requests ?? [] }
}

extension TransferSession.Configuration {
  /// Whether requests leave this machine's memory: false if a socket gets all of them.
  var usesNetwork: Bool { unixSocket == nil && testServer == nil }
}
