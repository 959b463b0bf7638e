public import FormStreamMultipart
import FormStreamPlatform

extension TransferSession {
  /// The settings that all requests of a session share.
  public struct Configuration: Sendable {
    /// The number of threads that drive requests; each has its own connections.
    public var engines = 1
    /// How long an idle connection is kept.
    public var idleLimit: Duration = .seconds(15)
    /// How many connections the session has to one host (scheme, name and port) at the same time; no limit if nil.
    ///
    /// Further requests wait, with one engine in the order in which they were started, and ``TransferTask/state`` is
    /// `waiting`. Requests to other hosts don't wait for them. Over HTTP/2, up to 100 requests share a connection and count
    /// as one, from the first response on; those before it count one by one. A request that is paused while it is sent
    /// counts, and so does an ``OpenResponse`` that is not read to its end: to hold several open and send others
    /// meanwhile, allow more. Six is what browsers and `URLSession` use for HTTP/1.1: enough for most servers and paths,
    /// and few enough that a large batch of requests is no attack.
    public var maximumConnectionsPerHost: Int? = 6
    /// How many idle connections each engine keeps.
    public var maximumIdleConnections = 64
    /// The size of the pieces in which bodies are handed over, from 16 KiB to 2 MiB.
    public var uploadBufferSize = 256 * 1024
    /// The HTTP version.
    public var version = Version.automatic
    /// Trusted authorities and the client certificate.
    public var tls = TLSSettings()
    /// A Unix-domain socket that all requests are sent to, whatever host their URL names.
    public var unixSocket: LocalPath?
    /// Addresses of hosts. They take precedence over the resolver.
    public var addresses: [HostAddress] = []
    /// The `User-Agent` header, unless a request has its own.
    public var userAgent = "FormStream"
    /// How many retries in a row the session allows; see ``RetryPolicy``. Each success adds to the budget, so that a
    /// server in trouble doesn't receive many times its usual load.
    public var retryBudget = 100

    /// The default settings.
    public init() {}

    /// The HTTP version that is used.
    public struct Version: Hashable, Sendable {
      enum Kind: Hashable { case automatic, http11, http2 }
      let kind: Kind

      /// HTTP/2 if the server offers it under TLS, otherwise HTTP/1.1.
      ///
      /// A body of more than 64 KiB, or of unknown length, is sent over HTTP/1.1, and over HTTP/2 only if the server
      /// refuses that: many servers take no more than 64 KiB in each round trip over HTTP/2.
      public static let automatic = Version(kind: .automatic)
      /// Only HTTP/1.1.
      public static let http11 = Version(kind: .http11)
      /// Only HTTP/2. Without TLS, each request has a connection of its own.
      public static let http2 = Version(kind: .http2)
    }
  }
}

extension TransferSession.Configuration {
  func check() throws(TransferError) {
    guard (1...64).contains(engines) else {
      throw TransferError(
        .invalidSetting, on: "engines", "A session can't have \(engines) engines: use 1 to 64.")
    }
    if let maximum = maximumConnectionsPerHost, maximum < 1 {
      throw TransferError(
        .invalidSetting, on: "maximumConnectionsPerHost",
        "A session can't have \(maximum) connections to a host: allow 1 or more.")
    }
    guard HTTPSyntax.isFieldValue(userAgent.utf8) else {
      throw TransferError(
        .invalidSetting, on: "userAgent",
        "The user agent \(userAgent.quoted) contains a control character: remove it.")
    }
    guard (16 * 1024...2 * 1024 * 1024).contains(uploadBufferSize) else {
      throw TransferError(
        .invalidSetting, on: "uploadBufferSize",
        "The upload buffer can't have \(uploadBufferSize) bytes: use 16 KiB to 2 MiB.")
    }
    for (path, what) in [
      (tls.authorities, "authorities"), (tls.certificate, "certificate"), (tls.key, "key"),
    ] {
      guard let path, let reason = unreadable(path) else { continue }
      throw TransferError(
        .tlsFileUnusable, on: path.description,
        "The file \(path.description.quoted) for TLS (\(what)) can't be read: \(reason). Name a PEM file."
      )
    }
  }
}
