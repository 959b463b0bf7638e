// The only file of this module that calls the C library.

import FormStreamMultipart
import Glibc

/// The number of bytes in a socket's send queue: handed over, and not yet acknowledged by the other side's system.
///
/// C: `ioctl(SIOCOUTQ)`
func unacknowledgedBytes(of socket: CInt) -> Int64? {
  var count: CInt = 0
  // Linux: SIOCOUTQ is TIOCOUTQ.
  guard ioctl(socket, UInt(TIOCOUTQ), &count) == 0 else { return nil }
  return Int64(count)
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
