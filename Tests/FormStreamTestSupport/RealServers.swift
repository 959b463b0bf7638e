import Glibc
import FormStreamPlatform

/// A widely used server, on free ports of the loopback, as a proxy in front of a plain server of the test. It passes
/// on requests as they arrive, and ends with this object.
public final class RealServer: Sendable {
  /// The server's name.
  public enum Kind: String, Sendable, CaseIterable {
    case nginx, apache
  }

  /// The options of a server.
  public struct Options: Sendable {
    /// The largest body that is accepted (`client_max_body_size`), or nil for no limit.
    public var largestBody: Int?
    /// How many seconds an idle connection is kept (`keepalive_timeout`), or nil for the server's default.
    public var keepsIdleFor: Int?
    /// How many requests are handled on one connection (`keepalive_requests`), or nil for the server's default.
    public var requestsPerConnection: Int?
    /// How many requests nginx handles at the same time on one connection with HTTP/2 (`http2_max_concurrent_streams`), or
    /// nil for its default.
    public var streamsPerConnection: Int?
    /// Whether TLS 1.3 is the only version that it speaks.
    public var speaksOnlyTLS13 = false
    /// Whether nginx reads a request completely before it passes it on.
    public var buffersRequests = false
    /// Whether the connection is closed without a response if the plain server sends none (nginx's 444).
    public var closesWithoutResponse = false
    /// The authority that must have signed the client's certificate, a file's path. Nil asks for no certificate.
    public var clientAuthority: String?
    /// Whether TLS 1.1 is the only version that it speaks.
    public var speaksOnlyTLS11 = false
    /// Whether the server stores files itself, by WebDAV, in place of passing on the requests.
    public var storesFiles = false
    /// How users authenticate themselves, or nil if they need not. The only one is `Mufasa`, with the password
    /// `Circle of Life` and the realm `vault`.
    public var authentication: Authentication?

    /// A scheme of authentication.
    public enum Authentication: String, Sendable {
      /// RFC 7617.
      case basic = "Basic"
      /// RFC 7616, with MD5. Apache only.
      case digest = "Digest"
    }

    /// The defaults.
    public init() {}
  }

  /// The URL without TLS.
  public let url: String
  /// The URL with TLS and HTTP/1.1, or an empty string if it has no TLS.
  public let urlTLS: String
  /// The URL with TLS and HTTP/2, or an empty string if it has no TLS.
  public let urlHTTP2: String

  private let child: Guarded<ChildProcess?>
  private let place: TemporaryDirectory
  /// Kept after the server's end, too.
  private let reserved: [ReservedPort]

  /// Starts a server, and waits until it accepts connections.
  ///
  /// - Parameter port: the plain server's, on 127.0.0.1.
  public init(
    _ kind: Kind, to port: UInt16, _ certificate: TestCertificates.Pair? = nil,
    _ options: Options = Options()
  ) throws {
    let place = try TemporaryDirectory()
    self.place = place
    if options.storesFiles {
      // Apache's workers run as another user if the tests are run by root.
      for name in ["files", "locks"] {
        mkdir(place.path(name), 0o777)
        chmod(place.path(name), 0o777)
      }
      chmod(place.path, 0o755)
    }
    var started: ChildProcess?
    let reserved = try (0..<3).map { _ in try ReservedPort() }
    let ports = reserved.map(\.number)
    // Beside many other tests, a start can take longer than there is patience for.
    for _ in 0..<3 where started == nil {
      let program: [String]
      switch kind {
      case .nginx:
        try place.write("conf", nginxConfiguration(place, ports, port, certificate, options))
        program = ["nginx", "-p", place.path, "-c", place.path("conf"), "-e", place.path("errors")]
      case .apache:
        try place.write("conf", apacheConfiguration(place, ports, port, certificate, options))
        program = ["apache2", "-DFOREGROUND", "-d", place.path, "-f", place.path("conf")]
      }
      let child = try ChildProcess(
        program: "/usr/bin/env", arguments: program.map { Array($0.utf8) }, takesInput: false,
        directory: place.path, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
      // It begins to listen on one after the other.
      let used = certificate == nil ? 1 : kind == .nginx ? 3 : 2
      if ports.prefix(used).allSatisfy(isListening) {
        started = child
      } else {
        child.end()
      }
    }
    guard let child = started else {
      throw NotStarted(description: "\(kind) did not start")
    }
    self.child = Guarded(child)
    self.reserved = reserved
    url = "http://127.0.0.1:\(ports[0])"
    let hasTLS = certificate != nil
    urlTLS = hasTLS ? "https://localhost:\(ports[1])" : ""
    urlHTTP2 = hasTLS && kind == .nginx ? "https://localhost:\(ports[2])" : ""
  }

  deinit { stop() }

  /// What apache recorded of each request that it has responded to, in order: the status, the length that was announced, and
  /// how many bytes it received for it, head included.
  public func log() throws -> [(status: Int, announced: String, received: Int)] {
    try readLines(place.path("requests")).compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 3, let status = Int(words[0]), let count = Int(words[2]) else {
        return nil
      }
      return (status, String(words[1]), count)
    }
  }

  /// The directory of the files that the server stores, with the option ``Options/storesFiles``.
  public var files: String { place.path("files") }

  /// Ends the server and all its connections.
  public func stop() {
    child.withLock { child in
      child?.end()
      child = nil
    }
  }
}

/// A server did not start.
struct NotStarted: Error, CustomStringConvertible {
  let description: String
}

private func nginxConfiguration(
  _ place: TemporaryDirectory, _ ports: [UInt16], _ port: UInt16,
  _ certificate: TestCertificates.Pair?, _ options: RealServer.Options
) -> String {
  var servers = "server { listen 127.0.0.1:\(ports[0]); include here; }\n"
  if let certificate {
    for (number, http2) in [(ports[1], ""), (ports[2], " http2")] {
      servers += """
        server {
          listen 127.0.0.1:\(number) ssl\(http2);
          ssl_certificate \(certificate.certificate);
          ssl_certificate_key \(certificate.key);
          \(options.clientAuthority.map { "ssl_verify_client on; ssl_client_certificate \($0);" } ?? "")
          \(options.speaksOnlyTLS11 ? "ssl_protocols TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;" : "")
          \(options.speaksOnlyTLS13 ? "ssl_protocols TLSv1.3;" : "")
          \(options.streamsPerConnection.map { "http2_max_concurrent_streams \($0);" } ?? "")
          include here;
        }

        """
    }
  }
  let closing = "error_page 502 504 = @no_response;"
  let here = """
    client_max_body_size \(options.largestBody ?? 0);
    keepalive_timeout \(options.keepsIdleFor ?? 75);
    keepalive_requests \(options.requestsPerConnection ?? 1000);
    location / {
      \(options.storesFiles ? "root \(place.path("files")); dav_methods PUT DELETE MKCOL;" : "")
      \(options.authentication == nil ? "" : "auth_basic vault; auth_basic_user_file \(place.path("users"));")
      \(options.storesFiles ? "" : "proxy_pass http://127.0.0.1:\(port);")
      proxy_http_version 1.1;
      proxy_request_buffering \(options.buffersRequests ? "on" : "off");
      proxy_next_upstream off;
      \(options.closesWithoutResponse ? closing : "")
    }
    location @no_response { return 444; }
    """
  _ = try? place.write("here", here)
  _ = try? place.write("users", passwordLine)
  let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
    "\($0)_temp_path \(place.path($0));"
  }
  // Its workers run as the user who runs the tests: those of root could not enter the directory otherwise.
  let user = getuid() == 0 ? "user root;" : ""
  return """
    \(user)
    daemon off;
    worker_processes 1;
    pid \(place.path("pid"));
    error_log \(place.path("errors"));
    events { worker_connections 512; }
    http {
      access_log off;
      \(places.joined(separator: "\n  "))
      \(servers)
    }
    """
}

private func apacheConfiguration(
  _ place: TemporaryDirectory, _ ports: [UInt16], _ port: UInt16,
  _ certificate: TestCertificates.Pair?, _ options: RealServer.Options
) -> String {
  var names = ["mpm_event", "authz_core", "env", "proxy", "proxy_http", "ssl"]
  var rules = ""
  if let scheme = options.authentication {
    names += ["authn_core", "authn_file", "authz_user", "auth_basic", "auth_digest"]
    // htdigest and htpasswd write such lines.
    let users =
      scheme == .digest ? "Mufasa:vault:84e53abe5f5ac5dc782c5a8ac8c11820\n" : passwordLine
    _ = try? place.write("users", users)
    // Its workers run as another user if the tests are run by root.
    chmod(place.path, 0o711)
    chmod(place.path("users"), 0o644)
    rules = """
      <Location />
        AuthType \(scheme.rawValue)
        AuthName vault
        Auth\(scheme.rawValue)Provider file
        AuthUserFile \(place.path("users"))
        Require valid-user
      </Location>
      """
  }
  var use = "ProxyPass / http://127.0.0.1:\(port)/"
  if options.storesFiles {
    names += ["dav", "dav_fs"]
    use = """
      DocumentRoot \(place.path("files"))
      DavLockDB \(place.path("locks/locks"))
      <Location />
        Dav On
      </Location>
      """
  }
  let modules = names.map {
    "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so"
  }
  let client = options.clientAuthority.map { "SSLVerifyClient require\nSSLCACertificateFile \($0)" }
  let tls = certificate.map { certificate in
    """
    Listen 127.0.0.1:\(ports[1])
    <VirtualHost 127.0.0.1:\(ports[1])>
      SSLEngine on
      SSLCertificateFile \(certificate.certificate)
      SSLCertificateKeyFile \(certificate.key)
      \(client ?? "")
      \(options.speaksOnlyTLS11 ? "SSLProtocol TLSv1.1\nSSLCipherSuite ALL:@SECLEVEL=0" : "")
      ProxyPass / http://127.0.0.1:\(port)/
      SetEnv proxy-sendchunked 1
    </VirtualHost>
    """
  }
  return """
    \(modules.joined(separator: "\n"))
    Listen 127.0.0.1:\(ports[0])
    ServerName localhost
    PidFile \(place.path("pid"))
    ErrorLog \(place.path("errors"))
    DefaultRuntimeDir \(place.path)
    \(use)
    SetEnv proxy-sendchunked 1
    \(tls ?? "")
    CustomLog \(place.path("requests")) "%>s %{Content-Length}i %I"
    \(rules)
    \(getuid() == 0 ? "User nobody\nGroup nogroup" : "")
    """
}

/// SHA-1 of the password in base 64.
private let passwordLine = "Mufasa:{SHA}y/waJdy9m/a+D8VTRQ/e2awAzpQ=\n"

private func readLines(_ path: String) throws -> [Substring] {
  guard let file = fopen(path, "re") else { throw SystemError(number: errno) }
  defer { fclose(file) }
  var text: [UInt8] = []
  var byte = getc(file)
  while byte != EOF {
    text.append(UInt8(truncatingIfNeeded: byte))
    byte = getc(file)
  }
  return String(decoding: text, as: UTF8.self).split(separator: "\n")
}

/// Whether something is listening on a port within half a minute: many programs start beside it.
func isListening(_ port: UInt16) -> Bool {
  for _ in 0..<3000 {
    if let descriptor = try? connected(to: .ip("127.0.0.1", port: port)) {
      close(descriptor)
      return true
    }
    usleep(10_000)
  }
  return false
}
