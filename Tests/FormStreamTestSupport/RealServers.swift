import Glibc

/// A server that people really run, on free ports of the loopback, in front of a plain server of the test's:
/// what it is sent, it passes on as it comes. It ends with this object.
public final class RealServer: Sendable {
  /// Which one.
  public enum Kind: String, Sendable, CaseIterable {
    case nginx, apache
  }

  /// What can be set of it.
  public struct Options: Sendable {
    /// The most bytes that a body may have (`client_max_body_size`); any number where nil.
    public var largestBody: Int?
    /// Whether the connection is closed without an answer where the plain server gives none (nginx's 444).
    public var closesWithoutResponse = false

    /// All as it is by itself.
    public init() {}
  }

  /// Where it listens without TLS.
  public let url: String
  /// Where it listens with TLS and HTTP/1.1; empty where it has no TLS.
  public let urlTLS: String
  /// Where it listens with TLS and HTTP/2; empty where it has none.
  public let urlHTTP2: String

  private let child: Guarded<ChildProcess?>
  private let place: TemporaryDirectory

  /// Starts a server, and waits until it can be reached.
  ///
  /// - Parameter port: the plain server's, on 127.0.0.1.
  public init(
    _ kind: Kind, to port: UInt16, _ certificate: TestCertificates.Pair? = nil,
    _ options: Options = Options()
  ) throws {
    let place = try TemporaryDirectory()
    self.place = place
    var started: (ChildProcess, [UInt16])?
    // Between finding a free port and taking it, another may be faster.
    for _ in 0..<3 where started == nil {
      let ports = try freePorts(3)
      let program: [String]
      switch kind {
      case .nginx:
        try place.write("conf", nginxConfiguration(place, ports, port, certificate, options))
        program = ["nginx", "-p", place.path, "-c", place.path("conf"), "-e", place.path("errors")]
      case .apache:
        try place.write("conf", apacheConfiguration(place, ports, port))
        program = ["apache2", "-DFOREGROUND", "-d", place.path, "-f", place.path("conf")]
      }
      let child = try ChildProcess(
        program: "/usr/bin/env", arguments: program.map { Array($0.utf8) }, takesInput: false,
        directory: place.path, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
      if isReached(ports[0]) {
        started = (child, ports)
      } else {
        child.end()
      }
    }
    guard let (child, ports) = started else {
      throw NotStarted(description: "\(kind) did not start")
    }
    self.child = Guarded(child)
    url = "http://127.0.0.1:\(ports[0])"
    let hasTLS = kind == .nginx && certificate != nil
    urlTLS = hasTLS ? "https://localhost:\(ports[1])" : ""
    urlHTTP2 = hasTLS ? "https://localhost:\(ports[2])" : ""
  }

  deinit { stop() }

  /// Ends the server, and with it all connections.
  public func stop() {
    child.withLock { child in
      child?.end()
      child = nil
    }
  }
}

/// A server did not start.
private struct NotStarted: Error, CustomStringConvertible {
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
          include here;
        }

        """
    }
  }
  let silence = "error_page 502 504 = @nobody;"
  let here = """
    client_max_body_size \(options.largestBody ?? 0);
    location / {
      proxy_pass http://127.0.0.1:\(port);
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_next_upstream off;
      \(options.closesWithoutResponse ? silence : "")
    }
    location @nobody { return 444; }
    """
  _ = try? place.write("here", here)
  let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
    "\($0)_temp_path \(place.path($0));"
  }
  // It runs as whoever runs the tests: root's workers would not reach into the directory.
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
  _ place: TemporaryDirectory, _ ports: [UInt16], _ port: UInt16
) -> String {
  let modules = ["mpm_event", "authz_core", "env", "proxy", "proxy_http"].map {
    "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so"
  }
  return """
    \(modules.joined(separator: "\n"))
    Listen 127.0.0.1:\(ports[0])
    ServerName localhost
    PidFile \(place.path("pid"))
    ErrorLog \(place.path("errors"))
    DefaultRuntimeDir \(place.path)
    ProxyPass / http://127.0.0.1:\(port)/
    SetEnv proxy-sendchunked 1
    \(getuid() == 0 ? "User nobody\nGroup nogroup" : "")
    """
}

/// Ports that nobody listens at, all different.
private func freePorts(_ count: Int) throws -> [UInt16] {
  let listeners = try (0..<count).map { _ in try LoopbackListener(.local, receiveBuffer: nil) }
  return listeners.map(\.port)
}

/// Whether somebody listens at a port within ten seconds.
private func isReached(_ port: UInt16) -> Bool {
  for _ in 0..<1000 {
    if let descriptor = try? connected(to: .ip("127.0.0.1", port: port)) {
      close(descriptor)
      return true
    }
    usleep(10_000)
  }
  return false
}
