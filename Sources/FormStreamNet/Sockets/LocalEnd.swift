package import FormStreamPlatform

/// Where connections begin on this machine (`--interface`).
package enum LocalEnd: Hashable, Sendable {
  /// At an interface, such as `eth0`.
  case interface(String)
  /// At the first of some addresses of this machine that has the family of the connection; port 0 lets the system choose the port.
  case addresses([SocketAddress])
  /// At an address that has yet to be looked up.
  case host(String)

  /// Parses the name of an interface, an address, or a host name. After the prefix `if!`, the text can only be the name of an
  /// interface; after `host!`, only an address or host name.
  package init(_ text: String) {
    if text.hasPrefix("if!") {
      self = .interface(String(text.dropFirst(3)))
    } else {
      let isHost = text.hasPrefix("host!")
      let name = isHost ? String(text.dropFirst(5)) : text
      if !isHost, interfaceNumber(name) != nil {
        self = .interface(name)
      } else if let address = SocketAddress(name, port: 0) {
        self = .addresses([address])
      } else {
        self = .host(name)
      }
    }
  }

  /// Lets a new socket begin here. A Unix-domain socket stays as it is.
  ///
  /// C: `setsockopt(SO_BINDTODEVICE)`, `getifaddrs`, `bind`
  package func bind(_ socket: Socket) throws(SystemError) {
    guard socket.family != .unix else { return }
    switch self {
    case .interface(let name):
      do throws(SystemError) {
        try bindSocket(socket.number, toInterface: name)
      } catch  where error.isNotAllowed {
        // Linux before 5.7 lets only some users bind to an interface. Everybody may bind to its address.
        try Self.bind(socket, toAddressOf: name)
      }
    case .addresses(let addresses):
      guard let address = addresses.first(where: { $0.family == socket.family }) else { throw .familyUnsupported }
      try bindSocket(socket.number, address)
    case .host:
      // The caller looks the name up first.
      throw .addressUnavailable
    }
  }

  /// Lets a socket begin at the first address of an interface.
  ///
  /// C: `getifaddrs`, `bind`
  package static func bind(_ socket: Socket, toAddressOf interface: String) throws(SystemError) {
    guard let address = FormStreamNet.addresses(ofInterface: interface).first(where: { $0.family == socket.family })
    else { throw .addressUnavailable }
    try bindSocket(socket.number, address)
  }
}
