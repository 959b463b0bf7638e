/// TLS in front of a plain server: a program of its own (`tls-proxy.py`) that passes all bytes and all
/// ends through, as faithfully as TLS can. The server sees a connection when its handshake is done.
public final class TLSProxy: Sendable {
  /// What can be set of a front.
  public struct Options: Sendable {
    /// Demand a certificate of the client, made by this authority (a file's path).
    public var clientAuthority: String?
    /// The protocols to agree on with ALPN; without any, ALPN is not answered.
    public var protocols: [String] = ["http/1.1"]
    /// The newest version of TLS to speak: `1.1`, `1.2` or `1.3`; all where nil.
    public var newestVersion: String?
    /// End connections without a close_notify.
    public var omitsCloseNotify = false
    /// Where to listen, on a free port.
    public var host = "127.0.0.1"

    /// All as it is by itself.
    public init() {}
  }

  /// The port.
  public let port: UInt16
  /// Where it listens, for a URL: `https://localhost:40123`, without a slash at its end.
  public var url: String { url(host: "localhost") }

  private let child: Guarded<ChildProcess?>
  private let place: TemporaryDirectory

  /// Starts a front on a free port.
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
    if let newestVersion = options.newestVersion { arguments += ["--newest", newestVersion] }
    if options.omitsCloseNotify { arguments.append("--bare-ends") }

    place = try TemporaryDirectory()
    let child = try ChildProcess(
      program: "/usr/bin/env", arguments: arguments.map { Array($0.utf8) }, takesInput: true,
      directory: place.path, environment: [:])
    self.port = UInt16(try child.firstLine(within: 60)) ?? 0
    self.child = Guarded(child)
  }

  deinit { stop() }

  /// Ends the front, and with it all connections.
  public func stop() {
    child.withLock { child in
      child?.end()
      child = nil
    }
  }

  /// Where it listens, by another name of this host.
  public func url(host: String) -> String { "https://\(host):\(port)" }
}
