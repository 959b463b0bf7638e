// The only file of this module that calls the C library.

import FormStreamMultipart
import Glibc

/// The number of bytes in a socket's send queue: bytes that were handed over, but not yet acknowledged by the other side's
/// system.
///
/// C: `ioctl(SIOCOUTQ)`
func unacknowledgedBytes(of socket: CInt) -> Int64? {
  var count: CInt = 0
  // Linux: SIOCOUTQ is TIOCOUTQ.
  guard ioctl(socket, UInt(TIOCOUTQ), &count) == 0 else { return nil }
  return Int64(count)
}

/// How many bytes a program has written to a socket: the acknowledged bytes, and the bytes in the socket's send queue. The
/// system doesn't count the two at the same moment, so the number is known only as a range. Nil if the system doesn't know it,
/// as with Unix-domain sockets.
func writtenBytes(of socket: CInt) -> ClosedRange<Int64>? {
  // Bytes that are acknowledged between two of the calls are missing in the lower bound, and counted twice in the upper bound.
  guard let earlier = acknowledgedBytes(of: socket), let queued = unacknowledgedBytes(of: socket),
    let later = acknowledgedBytes(of: socket), earlier <= later
  else { return nil }
  return earlier + queued...later + queued
}

/// How many of the bytes written to a socket the other side's system has acknowledged.
///
/// C: `getsockopt(TCP_INFO)`
private func acknowledgedBytes(of socket: CInt) -> Int64? {
  // Glibc's `tcp_info` ends before `tcpi_bytes_acked`, which the kernel writes at this offset.
  let offset = 120
  var info = [UInt8](repeating: 0, count: 256)
  var size = socklen_t(info.count)
  guard getsockopt(socket, CInt(IPPROTO_TCP), TCP_INFO, &info, &size) == 0, Int(size) >= offset + 8
  else { return nil }
  let count = info.withUnsafeBytes { $0.load(fromByteOffset: offset, as: UInt64.self) }
  // Sums of counts below 2^62 can't overflow.
  return count < 1 << 62 ? Int64(count) : nil
}

/// Whether a socket has something to read: bytes, the other side's end, or a failure. Reads nothing.
///
/// C: `recv(MSG_PEEK)`
func hasInput(_ socket: CInt) -> Bool {
  while true {
    var byte: UInt8 = 0
    if recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) >= 0 { return true }
    if errno != EINTR { return errno != EAGAIN }
  }
}

/// Whether the other side of a socket has ended its sending, even if bytes are still to be read.
///
/// C: `poll`
func hasEnded(_ socket: CInt) -> Bool {
  // 0x2000 is POLLRDHUP, which Swift's Glibc does not have.
  var watched = pollfd(fd: socket, events: 0x2000, revents: 0)
  return poll(&watched, 1, 0) > 0
}

/// Whether there is something other than a socket at a path.
///
/// C: `stat`
func isOtherThanSocket(_ path: LocalPath) -> Bool {
  var status = stat()
  return path.withCString { stat($0, &status) } == 0 && status.st_mode & S_IFMT != S_IFSOCK
}

/// The first bytes that a socket has received, which stay unread; empty if there are none.
///
/// C: `recv(MSG_PEEK)`
func unreadStart(of socket: CInt, count: Int) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: count)
  var received = recv(socket, &bytes, count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
  // The first call may report a failure that came after the bytes.
  if received < 0, errno != EAGAIN {
    received = recv(socket, &bytes, count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
  }
  return Array(bytes.prefix(max(received, 0)))
}

/// Reads the bytes that a socket has received, up to `limit`, without waiting for more.
///
/// C: `recv(MSG_DONTWAIT)`
func pendingBytes(of socket: CInt, limit: Int) -> [UInt8] {
  var bytes: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 16 * 1024)
  while bytes.count < limit {
    var count = recv(socket, &piece, piece.count, Int32(MSG_DONTWAIT))
    // The first call may report the failure of an earlier write; the bytes received before it can still be read.
    if count < 0, errno == EINTR || errno == ECONNRESET || errno == EPIPE {
      count = recv(socket, &piece, piece.count, Int32(MSG_DONTWAIT))
    }
    guard count > 0 else { break }
    bytes.append(contentsOf: piece[..<count])
  }
  return bytes
}

/// The local port of a connection; 0 if it has none, as with a Unix-domain socket. Nil if the system doesn't know it.
///
/// C: `getsockname`
func localPort(of socket: CInt) -> CInt? {
  var address = sockaddr_storage()
  var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
  let result = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
  }
  guard result == 0 else { return nil }
  switch Int32(address.ss_family) {
  case AF_INET:
    return withUnsafeBytes(of: address) {
      CInt(UInt16(bigEndian: $0.load(as: sockaddr_in.self).sin_port))
    }
  case AF_INET6:
    return withUnsafeBytes(of: address) {
      CInt(UInt16(bigEndian: $0.load(as: sockaddr_in6.self).sin6_port))
    }
  default: return 0
  }
}

/// Holds back bytes that are written to a socket until they fill a packet, or sends them.
///
/// C: `setsockopt(TCP_CORK)`
func setCorked(_ socket: CInt, _ isCorked: Bool) {
  var value: CInt = isCorked ? 1 : 0
  _ = setsockopt(
    socket, CInt(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<CInt>.size))
}

/// Opens a socket that programs started by this one don't inherit; -1 if that fails.
///
/// C: `socket`
func openSocket(_ family: CInt, _ type: CInt, _ protocolNumber: CInt) -> CInt {
  socket(family, type | CInt(SOCK_CLOEXEC.rawValue), protocolNumber)
}

/// Looks up the addresses of a host; this may block.
///
/// C: `getaddrinfo`
func lookUp(
  _ host: String, _ family: TransferSession.Configuration.AddressFamily
) -> HostLookup.Finding {
  var hints = addrinfo()
  hints.ai_family =
    switch family.kind {
    case .any: AF_UNSPEC
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    }
  hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
  var addresses: UnsafeMutablePointer<addrinfo>?
  let code = getaddrinfo(host, nil, &hints, &addresses)
  if code == 0 {
    freeaddrinfo(addresses)
    return .found
  }
  // EAI_AGAIN: no name server responded. The other two codes are failures of this system, such as too few descriptors.
  return [EAI_AGAIN, EAI_SYSTEM, EAI_MEMORY].contains(code) ? .noReply : .noSuchName
}

/// The bytes of an address of IPv4 or IPv6; nil if the text is something else.
///
/// C: `inet_pton`
func addressBytes(_ text: String) -> [UInt8]? {
  for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
    var bytes = [UInt8](repeating: 0, count: count)
    if inet_pton(family, text, &bytes) == 1 { return bytes }
  }
  return nil
}

/// The text of an address with 4 or 16 bytes; nil for any other number of bytes.
///
/// C: `inet_ntop`
func addressText(_ bytes: [UInt8]) -> String? {
  guard bytes.count == 4 || bytes.count == 16 else { return nil }
  var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
  let family = bytes.count == 4 ? AF_INET : AF_INET6
  return inet_ntop(family, bytes, &text, socklen_t(text.count)).map { String(cString: $0) }
}

/// C: `close`
func closeSocket(_ socket: CInt) {
  close(socket)
}

/// Why a file can't be read; nil if it can.
///
/// C: `access`
func unreadable(_ path: LocalPath) -> SystemError? {
  guard path.isUsable, !path.bytes.isEmpty else { return SystemError(number: EINVAL) }
  return path.withCString { access($0, R_OK) } == 0 ? nil : SystemError(number: errno)
}
