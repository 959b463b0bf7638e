import FormStreamPlatform

/// The address of a socket: a numeric IPv4 or IPv6 address with a port, or the name of a Unix-domain socket.
package enum SocketAddress: Hashable, Sendable {
  case ipv4(IPv4)
  case ipv6(IPv6)
  case unix(UnixName)

  /// The kinds of addresses.
  package enum Family: Sendable { case ipv4, ipv6, unix }

  package struct IPv4: Hashable, Sendable {
    package var host: UInt32
    package var port: UInt16

    package init(host: UInt32, port: UInt16) { (self.host, self.port) = (host, port) }
  }

  package struct IPv6: Hashable, Sendable {
    /// The 16 bytes of an address.
    package struct Host: Hashable, Sendable {
      let high: UInt64
      let low: UInt64

      init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

      /// - Parameter bytes: 16 bytes.
      init(bytes: UnsafeRawBufferPointer) {
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      }

      var bytes: [UInt8] {
        [high, low].flatMap { half in stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> $0) } }
      }
    }

    package var host: Host
    package var port: UInt16
    /// The number of the interface through which the address is reached (RFC 4007 §11); 0 if the address needs none.
    package var zone: UInt32
  }

  /// The name of a Unix-domain socket: a path, or a name in the system's abstract name space, which begins with a NUL (unix(7)).
  package struct UnixName: Hashable, Sendable {
    package let bytes: [UInt8]

    /// A path; nil if it is empty, contains a NUL, or has more than 107 bytes.
    package init?(path: [UInt8]) {
      guard !path.isEmpty, !path.contains(0), path.count < unixNameRoom else { return nil }
      bytes = path
    }

    /// An abstract name, without the NUL that begins it; nil if it is empty or has more than 107 bytes.
    package init?(abstract name: [UInt8]) {
      guard !name.isEmpty, name.count < unixNameRoom else { return nil }
      bytes = [0] + name
    }

    init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    package var isAbstract: Bool { bytes.first == 0 }
  }

  /// Parses a numeric address without brackets, such as `127.0.0.1`, `::1`, or `fe80::1%eth0`, whose zone is the name or number of
  /// an interface of this machine. Returns nil if the text is something else, such as a name. Asks no name server.
  package init?(_ text: String, port: UInt16) {
    if let host = ipv4Number(text) {
      self = .ipv4(IPv4(host: host, port: port))
      return
    }
    let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let host = ipv6Host(String(first)) else { return nil }
    var zone: UInt32 = 0
    if parts.count == 2 {
      let name = String(parts[1])
      guard let number = interfaceNumber(name) ?? (name.isASCIIDigits ? UInt32(name) : nil) else { return nil }
      zone = number
    }
    self = .ipv6(IPv6(host: host, port: port, zone: zone))
  }

  package var family: Family {
    switch self {
    case .ipv4: .ipv4
    case .ipv6: .ipv6
    case .unix: .unix
    }
  }

  /// The port; nil for a Unix-domain socket.
  package var port: UInt16? {
    switch self {
    case .ipv4(let address): address.port
    case .ipv6(let address): address.port
    case .unix: nil
    }
  }

  /// The same address with another port. A Unix-domain socket stays as it is.
  package func at(port: UInt16) -> SocketAddress {
    switch self {
    case .ipv4(var address):
      address.port = port
      return .ipv4(address)
    case .ipv6(var address):
      address.port = port
      return .ipv6(address)
    case .unix: return self
    }
  }

  /// The address without brackets and port, as `init` parses it; nil for a Unix-domain socket.
  package var host: String? {
    switch self {
    case .ipv4(let address):
      return [24, 16, 8, 0].map { String(address.host >> $0 & 0xFF) }.joined(separator: ".")
    case .ipv6(let address):
      let text = ipv6Text(address.host)
      if address.zone == 0 { return text }
      return "\(text)%\(interfaceName(address.zone) ?? String(address.zone))"
    case .unix: return nil
    }
  }

  /// Whether the address belongs to this machine alone: 127.0.0.0/8, `::1`, or the former in the form of IPv6 (RFC 4291 §2.5.5.2).
  /// A Unix-domain socket does, too.
  package var isLoopback: Bool {
    switch self {
    case .ipv4(let address): address.host >> 24 == 127
    case .ipv6(let address):
      address.host.high == 0 && (address.host.low == 1 || address.host.low >> 24 == 0xFFFF_7F)
    case .unix: true
    }
  }
}

extension SocketAddress: CustomStringConvertible {
  /// `127.0.0.1:80`, `[::1]:80`, or the name of a Unix-domain socket, with `@` in place of the NUL of an abstract name.
  package var description: String {
    switch self {
    case .ipv4(let address): "\(host ?? "?"):\(address.port)"
    case .ipv6(let address): "[\(host ?? "?")]:\(address.port)"
    case .unix(let name):
      name.isAbstract
        ? "@\(String(decoding: name.bytes.dropFirst(), as: UTF8.self))" : String(decoding: name.bytes, as: UTF8.self)
    }
  }
}
