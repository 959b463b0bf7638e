import FormStreamPlatform

/// A proxy that ends TLS in front of a plain server. The program `tls-proxy.py` passes on all bytes and all ends of
/// connections, as exactly as TLS can. The server sees a connection after its handshake.
public final class TLSProxy: Sendable {
  /// The options of a proxy.
  public struct Options: Sendable {
    /// The authority that must have signed the client's certificate, a file's path. Nil asks for no certificate.
    public var clientAuthority: String?
    /// The protocols to negotiate with ALPN. If there are none, ALPN is ignored.
    public var protocols: [String] = ["http/1.1"]
    /// The only protocol to negotiate on the first connection. Nil is the same as for others.
    public var firstProtocol: String?
    /// Whether a client that offers none of the protocols is refused, as RFC 7301 §3.2 demands. Otherwise the connection
    /// has no protocol.
    public var refusesOtherProtocols = false
    /// The port of the plain server for connections with the protocol `h2`. Nil is the same server as for others.
    public var http2Port: UInt16?
    /// The newest version of TLS to use: `1.1`, `1.2` or `1.3`. Nil allows all.
    public var newestVersion: String?
    /// The oldest version of TLS to use: `1.2` or `1.3`. Nil allows all.
    public var oldestVersion: String?
    /// Ends connections without a close_notify.
    public var omitsCloseNotify = false
    /// Resets the connection of a client that is refused, instead of waiting for its end.
    public var resetsRefused: Reset?
    /// The address to listen on. With `0.0.0.0`, each connection is passed on to the address that it arrived at, and
    /// the buffers are small.
    public var host = "127.0.0.1"

    /// What comes before a reset.
    public enum Reset: String, Sendable {
      case alert, bare
    }

    /// The defaults.
    public init() {}
  }

  /// The port.
  public let port: UInt16
  /// The URL, without a slash at its end: `https://localhost:40123`.
  public var url: String { url(host: "localhost") }

  private let child: Guarded<ChildProcess?>
  private let place: TemporaryDirectory

  /// Starts a proxy on a free port.
  ///
  /// - Parameter port: the plain server's, on 127.0.0.1.
  public init(
    to port: UInt16, _ certificate: TestCertificates.Pair, _ options: Options = Options()
  ) throws {
    let program = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    var arguments = [
      "python3", (program + ["tls-proxy.py"]).joined(separator: "/"), "--to", "\(port)",
      "--listen", options.host, "--certificate", certificate.certificate, "--key", certificate.key,
    ]
    if let authority = options.clientAuthority { arguments += ["--client-ca", authority] }
    for name in options.protocols { arguments += ["--alpn", name] }
    if let name = options.firstProtocol { arguments += ["--first-alpn", name] }
    if options.refusesOtherProtocols { arguments.append("--strict-alpn") }
    if let port = options.http2Port { arguments += ["--h2-to", "\(port)"] }
    if let newestVersion = options.newestVersion { arguments += ["--newest", newestVersion] }
    if let oldestVersion = options.oldestVersion { arguments += ["--oldest", oldestVersion] }
    if let reset = options.resetsRefused { arguments += ["--reset-refused", reset.rawValue] }
    if options.omitsCloseNotify { arguments.append("--bare-ends") }

    place = try TemporaryDirectory()
    let child = try ChildProcess(
      program: "/usr/bin/env", arguments: arguments.map { Array($0.utf8) }, takesInput: true,
      directory: place.path, environment: [:])
    self.port = UInt16(try child.nextLine(within: 60)) ?? 0
    self.child = Guarded(child)
  }

  deinit { stop() }

  /// Ends the proxy and all its connections.
  public func stop() {
    child.withLock { child in
      child?.end()
      child = nil
    }
  }

  /// The URL with another name of this host.
  public func url(host: String) -> String { "https://\(host):\(port)" }
}
