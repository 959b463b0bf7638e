// The system's form of addresses, and the names of interfaces.

import FormStreamPlatform
import Glibc

extension SocketAddress {
  /// Calls `body` with the system's form of the address.
  func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var storage = sockaddr_storage()
    let size = withUnsafeMutableBytes(of: &storage) { write(into: $0) }
    return withUnsafePointer(to: storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
    }
  }

  /// Writes the address into zeros, and returns its size.
  private func write(into bytes: UnsafeMutableRawBufferPointer) -> Int {
    switch self {
    case .ipv4(let address):
      var four = sockaddr_in()
      four.sin_family = sa_family_t(AF_INET)
      four.sin_port = address.port.bigEndian
      four.sin_addr.s_addr = address.host.bigEndian
      return withUnsafeBytes(of: four) { copy($0, into: bytes) }
    case .ipv6(let address):
      var six = sockaddr_in6()
      six.sin6_family = sa_family_t(AF_INET6)
      six.sin6_port = address.port.bigEndian
      six.sin6_scope_id = address.zone
      withUnsafeMutableBytes(of: &six.sin6_addr) { $0.copyBytes(from: address.host.bytes) }
      return withUnsafeBytes(of: six) { copy($0, into: bytes) }
    case .unix(let name):
      var unix = sockaddr_un()
      unix.sun_family = sa_family_t(AF_UNIX)
      let room = MemoryLayout.size(ofValue: unix.sun_path)
      let start = MemoryLayout<sockaddr_un>.size - room
      // `UnixName` has checked that it fits. An abstract name has all bytes that are counted; a path ends with a NUL.
      withUnsafeMutableBytes(of: &unix.sun_path) { $0.copyBytes(from: name.bytes.prefix(room)) }
      _ = withUnsafeBytes(of: unix) { copy($0, into: bytes) }
      return start + min(room, name.bytes.count + (name.isAbstract ? 0 : 1))
    }
  }

  private func copy(_ address: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) -> Int {
    bytes.copyMemory(from: address)
    return address.count
  }

  /// Reads the system's form of an address; nil if it is of a family that is not known here.
  init?(_ storage: sockaddr_storage, size: Int) {
    let address = withUnsafeBytes(of: storage) { SocketAddress(bytes: $0, size: size) }
    guard let address else { return nil }
    self = address
  }

  /// Reads a `struct sockaddr`, of which `size` bytes are there.
  init?(bytes: UnsafeRawBufferPointer, size: Int) {
    let size = min(size, bytes.count)
    guard size >= MemoryLayout<sa_family_t>.size else { return nil }
    switch CInt(bytes.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where size >= MemoryLayout<sockaddr_in>.size:
      let four = bytes.loadUnaligned(as: sockaddr_in.self)
      self = .ipv4(
        IPv4(host: UInt32(bigEndian: four.sin_addr.s_addr), port: UInt16(bigEndian: four.sin_port)))
    case AF_INET6 where size >= MemoryLayout<sockaddr_in6>.size:
      let six = bytes.loadUnaligned(as: sockaddr_in6.self)
      let host = withUnsafeBytes(of: six.sin6_addr) { IPv6.Host(bytes: $0) }
      self = .ipv6(IPv6(host: host, port: UInt16(bigEndian: six.sin6_port), zone: six.sin6_scope_id))
    case AF_UNIX:
      let start = MemoryLayout<sa_family_t>.size
      var name = Array(bytes[start..<size])
      // A path ends with a NUL; an abstract name begins with one; a socket without a name has neither.
      let isAbstract = name.first == 0
      if !isAbstract, let end = name.firstIndex(of: 0) { name.removeSubrange(end...) }
      self = .unix(UnixName(unchecked: name))
    default:
      return nil
    }
  }
}

/// How many bytes the name of a Unix socket may have, the NUL of a path included.
let unixNameRoom = MemoryLayout<sockaddr_un>.size - MemoryLayout<sa_family_t>.size

/// The bytes of a numeric IPv4 address, in the form of four decimal numbers; nil if the text is something else.
///
/// C: `inet_pton`
func ipv4Number(_ text: String) -> UInt32? {
  var address = in_addr()
  // C would ignore everything after a NUL.
  guard !text.utf8.contains(0), inet_pton(AF_INET, text, &address) == 1 else { return nil }
  return UInt32(bigEndian: address.s_addr)
}

/// C: `inet_pton`
func ipv6Host(_ text: String) -> SocketAddress.IPv6.Host? {
  var address = in6_addr()
  guard !text.utf8.contains(0), inet_pton(AF_INET6, text, &address) == 1 else { return nil }
  return withUnsafeBytes(of: address) { SocketAddress.IPv6.Host(bytes: $0) }
}

/// The shortest text of an IPv6 address.
///
/// C: `inet_ntop`
func ipv6Text(_ host: SocketAddress.IPv6.Host) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
    text.initialize(repeating: 0)
    guard let start = text.baseAddress, inet_ntop(AF_INET6, host.bytes, start, socklen_t(text.count)) != nil
    else { return "?" }
    return String(cString: start)
  }
}

/// The number of an interface of this machine; nil if there is none of this name.
///
/// C: `if_nametoindex`
func interfaceNumber(_ name: String) -> UInt32? {
  guard !name.utf8.contains(0) else { return nil }
  let number = if_nametoindex(name)
  return number == 0 ? nil : number
}

/// C: `if_indextoname`
func interfaceName(_ number: UInt32) -> String? {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { text in
    text.initialize(repeating: 0)
    guard let start = text.baseAddress, if_indextoname(number, start) != nil else { return nil }
    return String(cString: start)
  }
}

/// The addresses of an interface of this machine.
///
/// C: `getifaddrs`
func addresses(ofInterface name: String) -> [SocketAddress] {
  var list: UnsafeMutablePointer<ifaddrs>?
  guard getifaddrs(&list) == 0 else { return [] }
  defer { freeifaddrs(list) }
  var found: [SocketAddress] = []
  var next = list
  while let entry = next?.pointee {
    next = entry.ifa_next
    guard let pointer = entry.ifa_addr, String(cString: entry.ifa_name) == name else { continue }
    if let address = SocketAddress(pointer) { found.append(address) }
  }
  return found
}

extension SocketAddress {
  /// Copies a `struct sockaddr`, which has the size of its family.
  init?(_ pointer: UnsafePointer<sockaddr>) {
    let size =
      switch CInt(pointer.pointee.sa_family) {
      case AF_INET: MemoryLayout<sockaddr_in>.size
      case AF_INET6: MemoryLayout<sockaddr_in6>.size
      default: 0
      }
    self.init(bytes: UnsafeRawBufferPointer(start: pointer, count: size), size: size)
  }
}
