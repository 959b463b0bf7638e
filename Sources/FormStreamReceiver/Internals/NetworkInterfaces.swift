// The names and addresses by which other machines can reach this machine. This file and Syscalls.swift are the only files
// of this module that call the C library.

// See Syscalls.swift for why CFormStreamMicroHTTPD and Glibc are both imported.
import CFormStreamMicroHTTPD
import FormStreamPlatform
import Glibc

/// The addresses of this machine that other machines can reach: the addresses of all interfaces that are up, except the
/// loopback.
///
/// Link-local IPv6 addresses (RFC 4291 §2.5.6) are left out: they are of no use without the name of the other machine's
/// interface.
///
/// C: `getifaddrs`
func interfaceAddresses() -> [SocketAddress] {
  var list: UnsafeMutablePointer<ifaddrs>?
  guard getifaddrs(&list) == 0 else { return [] }
  defer { freeifaddrs(list) }
  var addresses: [SocketAddress] = []
  var next = list
  while let entry = next?.pointee {
    next = entry.ifa_next
    let flags = Int(entry.ifa_flags)
    guard flags & IFF_UP != 0, flags & IFF_LOOPBACK == 0, let pointer = entry.ifa_addr else {
      continue
    }
    let address = SocketAddress(pointer)
    guard let host = address.host, !address.isLoopback, !address.isOfOneLink,
      !addresses.contains(where: { $0.host == host })
    else { continue }
    addresses.append(address)
  }
  return addresses
}

/// The name of this machine; nil if it has none.
///
/// C: `gethostname`
package func hostName() -> String? {
  // POSIX: a name has at most 255 bytes, and may lack the NUL if it was cut.
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 257) { text in
    text.initialize(repeating: 0)
    guard let start = text.baseAddress, gethostname(start, 256) == 0 else { return nil }
    let name = String(cString: start)
    return name.isEmpty ? nil : name
  }
}

/// The addresses of a host. The system may look the addresses up on the network.
///
/// C: `getaddrinfo`
func addresses(ofHost name: String) -> [SocketAddress] {
  var hints = addrinfo()
  hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
  var list: UnsafeMutablePointer<addrinfo>?
  guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
  defer { freeaddrinfo(list) }
  var addresses: [SocketAddress] = []
  var next = list
  while let entry = next?.pointee {
    next = entry.ai_next
    if let pointer = entry.ai_addr { addresses.append(SocketAddress(pointer)) }
  }
  return addresses
}
