// Names of hosts, as the system's name service knows them.

import FormStreamPlatform
import Glibc

/// Looks up the addresses of a host, with port 0; this may block.
///
/// C: `getaddrinfo`
func systemAddresses(_ query: Resolver.Query) -> Result<[SocketAddress], LookupFailure> {
  // C would ignore everything after a NUL.
  guard !query.name.utf8.contains(0) else { return .failure(.unknown(query.name)) }
  var hints = addrinfo()
  hints.ai_family =
    switch query.families {
    case .any: AF_UNSPEC
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    }
  hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
  var list: UnsafeMutablePointer<addrinfo>?
  let code = getaddrinfo(query.name, nil, &hints, &list)
  guard code == 0 else {
    let number = errno
    // EAI_AGAIN: no name server responded. The other two codes are failures of this system, such as too few descriptors.
    return .failure(
      LookupFailure(
        name: query.name, isTemporary: [EAI_AGAIN, EAI_SYSTEM, EAI_MEMORY].contains(code),
        reason: code == EAI_SYSTEM ? SystemError(number: number).description : String(cString: gai_strerror(code))))
  }
  defer { freeaddrinfo(list) }
  var addresses: [SocketAddress] = []
  var next = list
  while let entry = next?.pointee {
    next = entry.ai_next
    // The list names an address once for each entry of a hosts file.
    if let pointer = entry.ai_addr, let address = SocketAddress(pointer), !addresses.contains(address) {
      addresses.append(address)
    }
  }
  return addresses.isEmpty ? .failure(.unknown(query.name)) : .success(addresses)
}

extension LookupFailure {
  /// The name service knows no such name.
  ///
  /// C: `gai_strerror`
  static func unknown(_ name: String) -> LookupFailure {
    LookupFailure(name: name, isTemporary: false, reason: String(cString: gai_strerror(EAI_NONAME)))
  }

  /// No thread could be started to look the name up.
  static func noThread(_ name: String) -> LookupFailure {
    LookupFailure(name: name, isTemporary: true, reason: SystemError.noThread.description)
  }
}
