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
    /// Further requests wait, and their ``TransferTask/state`` is `waiting`. With one engine, they wait in the order of their
    /// ``TransferOptions/priority``, and of their start; a request that had a connection before, which it gave back for a retry
    /// or a decision, goes first. Requests to other hosts don't wait for them.
    ///
    /// Over HTTP/2, up to 100 requests share a connection and count as one after the first response. Before the first response,
    /// each request counts. A request that is paused while it is sent counts, and so does an ``OpenResponse`` that is not read
    /// to its end: to keep several responses open while other requests are sent, allow more connections. Browsers and
    /// `URLSession` use six connections for HTTP/1.1: enough for most servers and paths, and few enough that a large batch of
    /// requests is no attack.
    public var maximumConnectionsPerHost: Int? = 6
    /// How many idle connections each engine keeps.
    public var maximumIdleConnections = 64
    /// The size of the pieces in which request bodies are sent, from 16 KiB to 2 MiB.
    public var uploadBufferSize = 256 * 1024
    /// The HTTP version.
    public var version = Version.automatic
    /// The trusted authorities, the client certificate, and the versions of TLS.
    public var tls = TLSSettings()
    /// Decides whether a server's certificates are trusted, in place of the platform's check; if nil, the platform's check
    /// decides.
    ///
    /// The closure is called once for the same certificates of an origin, even if the platform's check accepts them. It is
    /// called before anything is sent to the origin. Its decision is remembered as long as the session lives. While the closure
    /// decides, the connection is closed, other requests go on, and the waiting request can be cancelled. The attempt that led
    /// to the call doesn't count. A certificate that the closure trusts must still have the public key of ``TLSSettings/pin``.
    /// The closure is not called for proxies, or if ``TLSSettings/verifiesServer`` is false. This setting needs a libcurl with
    /// OpenSSL.
    public var serverTrust: (@Sendable (ServerTrust) async -> ServerTrust.Decision)?
    /// Which proxy requests go through. By default none, even if the environment names a proxy.
    public var proxy = ProxySettings.none
    /// Whether all requests must be encrypted, except requests to the hosts in ``unencryptedHosts``. A request to another http
    /// URL fails with `encryptionRequired`, and nothing is sent. Redirects to such a URL are not followed, and uploads that a
    /// server keeps there are not continued. For the redirects of one request, see ``RedirectPolicy/requiresHTTPS``.
    public var requiresHTTPS = false
    /// The hosts that may be reached without encryption although ``requiresHTTPS`` is set, separated by commas, as for
    /// ``ProxySettings/proxy(_:except:)``: names, which include the names below them, addresses, and blocks such as
    /// `10.0.0.0/8`. The exceptions hold for all ports. An exception that can't match is an error, and so is `*`, which would
    /// allow every host, or an exception without ``requiresHTTPS``.
    public var unencryptedHosts = ""
    /// Which addresses of hosts are used.
    public var addressFamily = AddressFamily.any
    /// The interface of this machine that connections are made from: the name of an interface, an address or a host name; nil
    /// lets the system choose. After the prefix `if!`, the text can only be the name of an interface; after `host!`, only an
    /// address or a host name.
    public var localInterface: String?
    /// After this time without a byte, the system checks repeatedly whether the other side of a connection is still there (TCP
    /// keep-alive); nil means never. This also keeps routers from forgetting the connection.
    public var keepAliveTime: Duration? = .seconds(60)
    /// A Unix-domain socket that all requests are sent to, whatever host their URL names.
    public var unixSocket: LocalPath?
    /// Addresses of hosts. They take precedence over the resolver.
    public var addresses: [HostAddress] = []
    /// Hosts and ports to connect to in place of the hosts and ports in URLs; see ``HostReplacement``.
    public var replacedHosts: [HostReplacement] = []
    /// The `User-Agent` header, unless a request has its own.
    public var userAgent = "FormStream"
    /// Headers that each request has, unless it has its own of the same name.
    ///
    /// The credentials of a request take precedence over an `Authorization` here, and so do credentials that
    /// ``Decisions/challenge`` gave for an earlier request to the same server. A request leaves a header out by
    /// ``TransferOptions/omittedHeaders``. After a redirect to another origin, the headers that are secret, as
    /// `HTTPHeaders.Field.isSecret` says, are not sent; the others are. Headers about one request can't be
    /// set here: `Host`, `Range`, `If-Range`, `Idempotency-Key`, those of an upload that can go on, and those that begin with
    /// `Content-`.
    public var headers: HTTPHeaders = [:]
    /// The users and passwords of hosts, for requests without credentials of their own; see ``Netrc``.
    ///
    /// Credentials that a server refused are not sent to that server again.
    public var netrc: Netrc?
    /// Whether all requests share the same credentials. If so, credentials that a server refused are not sent to that server
    /// again.
    package var sharesCredentials = false
    /// Whether the session keeps cookies.
    public var cookies = CookiePolicy.none
    /// The closures with which the program decides about all requests.
    public var decisions = Decisions()
    /// Receives the traces of all requests; see ``TransferOptions/trace``, which is called, too. ``TransferTrace/tag`` says which
    /// request a trace is about.
    public var trace: (@Sendable (TransferTrace) -> Void)?
    /// Receives the progress of all requests and downloads, whoever else watches it; see ``TransferProgress/tag``. The closure
    /// is called on a thread of the session, where it may block, for each request one call at a time. The last call for a
    /// request ends before its result is there. While the closure runs, only the newest state of the request waits; see
    /// ``ProgressPace``.
    public var progress: ProgressHandler?
    /// Called before any request is sent again; see ``TransferOptions/willRetry``, which is called first.
    /// ``TransferRetry/tag`` says which request it is.
    public var willRetry: (@Sendable (TransferRetry) -> Void)?
    /// Answers all requests in place of their hosts; nil if requests go to their hosts.
    var testServer: TestServer?
    /// How many retries in a row the session allows; see ``RetryPolicy``. Each success adds to the budget. The budget keeps a
    /// server in trouble from receiving many times its usual load.
    public var retryBudget = 100

    /// The default settings.
    public init() {}

    /// A family of addresses.
    public struct AddressFamily: Hashable, Sendable {
      enum Kind: Hashable { case any, ipv4, ipv6 }
      let kind: Kind

      /// Addresses of IPv6 and IPv4, whichever connects first.
      public static let any = AddressFamily(kind: .any)
      /// Only addresses of IPv4.
      public static let ipv4 = AddressFamily(kind: .ipv4)
      /// Only addresses of IPv6.
      public static let ipv6 = AddressFamily(kind: .ipv6)
    }

    /// The HTTP version that is used.
    public struct Version: Hashable, Sendable {
      enum Kind: Hashable { case automatic, http11, http2, http2OverTLS }
      let kind: Kind

      /// HTTP/2 if the server offers it under TLS, otherwise HTTP/1.1.
      ///
      /// A body of more than 64 KiB, or of unknown length, is sent over HTTP/1.1, because many servers accept no more than 64
      /// KiB in each round trip over HTTP/2. If the server refuses HTTP/1.1, the body is sent over HTTP/2.
      public static let automatic = Version(kind: .automatic)
      /// Only HTTP/1.1.
      public static let http11 = Version(kind: .http11)
      /// Only HTTP/2, even without TLS. Without TLS, a server can't say that it doesn't speak HTTP/2, and each request has its
      /// own connection.
      public static let http2 = Version(kind: .http2)
      /// Only HTTP/2 under TLS, and HTTP/1.1 without it.
      public static let http2OverTLS = Version(kind: .http2OverTLS)

      /// The version for a URL with this scheme.
      func resolved(for scheme: String) -> Version {
        guard self == .http2OverTLS else { return self }
        return scheme == "https" ? .http2 : .http11
      }
    }
  }
}

extension TransferSession.Configuration {
  func check() throws(TransferError) {
    guard (1...64).contains(engines) else { throw .engineCountOutOfRange(engines) }
    if let maximum = maximumConnectionsPerHost, maximum < 1 {
      throw .connectionCountTooSmall(maximum)
    }
    try headers.checkOfSession()
    guard requiresHTTPS || unencryptedHosts.isEmpty else { throw .exceptionsWithoutRule }
    if let word = ProxyExceptions.unusableWord(in: unencryptedHosts) { throw .exceptionUnusable(word) }
    guard HTTPSyntax.isFieldValue(userAgent.utf8) else {
      throw .controlCharacterInUserAgent(userAgent)
    }
    guard (16 * 1024...2 * 1024 * 1024).contains(uploadBufferSize) else {
      throw .bufferSizeOutOfRange(uploadBufferSize)
    }
    try tls.check()
    try checkConnections()
  }

  private func checkConnections() throws(TransferError) {
    try proxy.check()
    if let path = proxy.authorities, let reason = unreadable(path) {
      throw .authoritiesOfProxyUnreadable(path, reason)
    }
    guard unixSocket == nil || !proxy.isExplicit else { throw .proxyBesideSocket }
    // libcurl ignores longer names.
    if let localInterface,
      !(1..<255).contains(localInterface.utf8.count) || localInterface.utf8.contains(0)
    {
      throw .interfaceMalformed
    }
    if let keepAliveTime, !(.seconds(1) ... .seconds(32767)).contains(keepAliveTime) {
      throw .keepAliveTimeOutOfRange(keepAliveTime)
    }
    guard serverTrust == nil || CurlLibrary.usesOurOpenSSL else {
      throw .certificatesNotDecidable
    }
  }
}
