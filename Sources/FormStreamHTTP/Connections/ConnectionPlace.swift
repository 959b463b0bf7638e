import FormStreamNet

/// Where a connection leads to. A request may use a connection of another request only if their places are equal; what else
/// connections depend on belongs to the session, and each session has its own connections.
struct ConnectionPlace: Hashable {
  /// The origin in the URL.
  let origin: HTTPURL.Origin
  /// The host that is looked up, without brackets.
  let host: String
  let port: UInt16
  /// The Unix-domain socket to connect to in place of the host; nil if there is none.
  let socket: SocketAddress.UnixName?

  /// - Returns: nil if the socket's path is longer than the system allows.
  init?(_ request: WireRequest) {
    let (configuration, origin) = (request.configuration, request.url.origin)
    let (host, port) =
      configuration.replacedHosts.lazy.compactMap { $0.place(for: origin) }.first ?? (origin.host, origin.port)
    guard let port = UInt16(exactly: port) else { return nil }
    self.origin = origin
    let zone = host == origin.host ? origin.zone.map { "%\($0)" } ?? "" : ""
    self.host = host.filter { $0 != "[" && $0 != "]" } + zone
    self.port = port
    if let name = request.testSocket {
      guard let name = SocketAddress.UnixName(abstract: Array(name.utf8)) else { return nil }
      socket = name
    } else if let path = configuration.unixSocket {
      guard let name = SocketAddress.UnixName(path: path.bytes) else { return nil }
      socket = name
    } else {
      socket = nil
    }
  }
}
