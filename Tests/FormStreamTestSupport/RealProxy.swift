import FormStreamPlatform
import Glibc

/// A widely used proxy on a free port of the loopback, which ends with this object.
public final class RealProxy: Sendable {
  /// The proxy's program.
  public enum Kind: String, Sendable, CaseIterable {
    /// squid: a proxy of HTTP.
    case squid
    /// microsocks: a SOCKS5 proxy.
    case socks
  }

  /// The user and the password that a proxy demands.
  public struct User: Sendable {
    /// The name.
    public let name: String
    /// The password.
    public let password: String

    /// Makes a user.
    public init(name: String, password: String) {
      (self.name, self.password) = (name, password)
    }
  }

  /// The port on 127.0.0.1.
  public let port: UInt16

  private let child: Guarded<ChildProcess?>
  private let place: TemporaryDirectory
  private let reserved: ReservedPort

  /// Starts a proxy, and waits until it accepts connections.
  ///
  /// - Parameter user: whom it demands; nil if it serves everybody.
  public init(_ kind: Kind, _ user: User? = nil) throws {
    let place = try TemporaryDirectory()
    self.place = place
    // squid gives up its rights if it is started by root.
    chmod(place.path, 0o777)
    reserved = try ReservedPort()
    let port = reserved.number
    self.port = port
    var started: ChildProcess?
    // Beside many other tests, a start can take longer than there is patience for.
    for _ in 0..<3 where started == nil {
      let program: [String]
      switch kind {
      case .squid:
        try place.write("conf", try squidConfiguration(place, port, user))
        // The name is that of its shared memory.
        program = ["squid", "-N", "-n", "fs\(port)", "-f", place.path("conf")]
      case .socks:
        program =
          ["microsocks", "-i", "127.0.0.1", "-p", "\(port)"]
          + (user.map { ["-u", $0.name, "-P", $0.password] } ?? [])
      }
      let child = try ChildProcess(
        program: "/usr/bin/env", arguments: program.map { Array($0.utf8) }, takesInput: false,
        directory: place.path, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
      if isListening(port) { started = child } else { child.end() }
    }
    guard let child = started else {
      throw NotStarted(description: "\(kind) did not start")
    }
    self.child = Guarded(child)
  }

  deinit { child.withLock { $0?.end() } }
}

private func squidConfiguration(
  _ place: TemporaryDirectory, _ port: UInt16, _ user: RealProxy.User?
) throws -> String {
  var access = "http_access allow all"
  if let user {
    let digest = try run(program: "/usr/bin/env", ["openssl", "passwd", "-apr1", user.password])
    try place.write("users", "\(user.name):\(digest.output)")
    chmod(place.path("users"), 0o644)
    access = """
      auth_param basic program /usr/lib/squid/basic_ncsa_auth \(place.path("users"))
      acl known proxy_auth REQUIRED
      http_access allow known
      http_access deny all
      """
  }
  // The system may know another address of this name first, on which no server of the tests listens.
  try place.write("hosts", "127.0.0.1 localhost\n")
  chmod(place.path("hosts"), 0o644)
  return """
    http_port 127.0.0.1:\(port)
    hosts_file \(place.path("hosts"))
    pid_filename none
    access_log stdio:\(place.path("access"))
    cache_log \(place.path("messages"))
    coredump_dir \(place.path)
    cache deny all
    shutdown_lifetime 0 seconds
    \(access)

    """
}
