// The system calls of sockets. Their callers see Swift errors and Swift integers, never `errno`, `EINTR` or a C struct.

import CFormStreamSystem
package import FormStreamPlatform
import Glibc

extension SystemError {
  /// The system can't start another thread.
  static let noThread = SystemError(number: EAGAIN)
  /// Nothing listens at the address.
  package static let connectionRefused = SystemError(number: ECONNREFUSED)
  /// This machine has no such address or interface.
  package static let addressUnavailable = SystemError(number: EADDRNOTAVAIL)
  /// The address is of a kind that is not wanted here.
  static let familyUnsupported = SystemError(number: EAFNOSUPPORT)
  /// How a connection ended.
  package enum Ending: Sendable { case reset, timedOut, noRoute, networkUnreachable, other }

  package var ending: Ending {
    switch number {
    case ECONNRESET, EPIPE: .reset
    case ETIMEDOUT: .timedOut
    case EHOSTUNREACH: .noRoute
    case ENETUNREACH: .networkUnreachable
    default: .other
    }
  }

  /// Whether the error may be about the place at which a connection begins, and not about where it leads.
  package var isAboutLocalEnd: Bool { [EADDRNOTAVAIL, ENODEV, EPERM].contains(number) }

  /// Nothing can be read, written or accepted at present.
  var wouldBlock: Bool { number == EAGAIN }
  /// A connection is being made.
  var isInProgress: Bool { [EINPROGRESS, EALREADY, EINTR].contains(number) }
  /// The other side has reset the connection, or this side can't write any more.
  package var isReset: Bool { [ECONNRESET, EPIPE].contains(number) }
  /// The call needs a permission that this process lacks, or the system doesn't have the call.
  var isNotAllowed: Bool { [EPERM, EACCES, ENOPROTOOPT].contains(number) }
}

/// A new socket for a stream that never blocks and that programs started by this one don't inherit.
///
/// C: `socket(SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)`
func openStreamSocket(_ family: SocketAddress.Family) throws(SystemError) -> CInt {
  try retryingInterrupts { socket(family.number, streamKind, 0) }
}

private let streamKind =
  CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)

extension SocketAddress.Family {
  /// The system's number.
  var number: CInt {
    switch self {
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    case .unix: AF_UNIX
    }
  }
}

/// C: `connect`
func connectSocket(_ number: CInt, _ address: SocketAddress) throws(SystemError) {
  let result = address.withSystemAddress { connect(number, $0, $1) }
  if result < 0 { throw SystemError(number: errno) }
}

/// C: `bind`
func bindSocket(_ number: CInt, _ address: SocketAddress) throws(SystemError) {
  _ = try retryingInterrupts { address.withSystemAddress { bind(number, $0, $1) } }
}

/// C: `listen`
func listenOnSocket(_ number: CInt, backlog: Int32) throws(SystemError) {
  _ = try retryingInterrupts { listen(number, backlog) }
}

/// Accepts a connection; nil if none waits.
///
/// C: `accept4(SOCK_NONBLOCK | SOCK_CLOEXEC)`
func acceptConnection(_ listener: CInt) throws(SystemError) -> (number: CInt, from: SocketAddress?)? {
  var storage = sockaddr_storage()
  var size = CUnsignedInt(MemoryLayout<sockaddr_storage>.size)
  do throws(SystemError) {
    let number = try retryingInterrupts { formstream_accept_connection(listener, &storage, &size) }
    return (number, SocketAddress(storage, size: Int(size)))
  } catch {
    if error.wouldBlock { return nil }
    throw error
  }
}

/// Writes bytes; nil if the system takes none at present.
///
/// C: `send(MSG_NOSIGNAL)`
func sendBytes(_ number: CInt, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int? {
  try unlessBlocked { send(number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)) }
}

/// Writes two runs of bytes, one after the other, in one call.
///
/// C: `sendmsg(MSG_NOSIGNAL)`
func sendBytes(
  _ number: CInt, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
) throws(SystemError) -> Int? {
  var pieces = (
    iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
    iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
  )
  return try withUnsafeMutableBytes(of: &pieces) { bytes throws(SystemError) in
    var message = msghdr()
    message.msg_iov = bytes.assumingMemoryBound(to: iovec.self).baseAddress
    message.msg_iovlen = 2
    return try unlessBlocked { sendmsg(number, &message, CInt(MSG_NOSIGNAL)) }
  }
}

/// Reads bytes; 0 at the end, nil if there are none at present.
///
/// C: `recv`
func receiveBytes(
  _ number: CInt, _ buffer: UnsafeMutableRawBufferPointer, keepingThem: Bool = false
) throws(SystemError) -> Int? {
  try unlessBlocked {
    recv(number, buffer.baseAddress, buffer.count, keepingThem ? CInt(MSG_PEEK) : 0)
  }
}

/// Calls `call`, and calls it again if a signal interrupts it; nil if it would block. Unlike `retryingInterrupts`, this is not
/// generic, and throws nothing if a look finds nothing: a small request makes three of these calls.
private func unlessBlocked(_ call: () -> Int) throws(SystemError) -> Int? {
  while true {
    let result = call()
    if result >= 0 { return result }
    let number = errno
    if number == EAGAIN { return nil }
    if number != EINTR { throw SystemError(number: number) }
  }
}

/// Sends the end of the stream.
///
/// C: `shutdown(SHUT_WR)`
func endSending(_ number: CInt) throws(SystemError) {
  _ = try retryingInterrupts { shutdown(number, CInt(SHUT_WR)) }
}

/// C: `close`
func closeSocket(_ number: CInt) { close(number) }

/// Lets `close` reset the connection: what was not sent yet is dropped, and the other side's reads and writes fail.
///
/// C: `setsockopt(SO_LINGER)`
func setResettingAtClose(_ number: CInt) {
  var setting = linger(l_onoff: 1, l_linger: 0)
  setsockopt(number, SOL_SOCKET, SO_LINGER, &setting, socklen_t(MemoryLayout<linger>.size))
}

/// The failure of a socket, which the system then forgets; nil if there is none.
///
/// C: `getsockopt(SO_ERROR)`
func takeFailure(of number: CInt) -> SystemError? {
  let code = socketOption(number, SOL_SOCKET, SO_ERROR) ?? 0
  return code == 0 ? nil : SystemError(number: code)
}

/// The options of a socket that are numbers.
enum SocketOption {
  /// Bytes leave at once, even if they don't fill a packet.
  case withoutDelay
  case keepAlive, keepAliveIdle, keepAliveInterval
  case reuseAddress, onlyIPv6

  fileprivate var numbers: (level: CInt, name: CInt) {
    switch self {
    case .withoutDelay: (CInt(IPPROTO_TCP), TCP_NODELAY)
    case .keepAlive: (SOL_SOCKET, SO_KEEPALIVE)
    case .keepAliveIdle: (CInt(IPPROTO_TCP), TCP_KEEPIDLE)
    case .keepAliveInterval: (CInt(IPPROTO_TCP), TCP_KEEPINTVL)
    case .reuseAddress: (SOL_SOCKET, SO_REUSEADDR)
    case .onlyIPv6: (CInt(IPPROTO_IPV6), IPV6_V6ONLY)
    }
  }
}

/// C: `setsockopt`
func setOption(_ number: CInt, _ option: SocketOption, _ value: CInt) throws(SystemError) {
  var value = value
  _ = try retryingInterrupts {
    setsockopt(number, option.numbers.level, option.numbers.name, &value, socklen_t(MemoryLayout<CInt>.size))
  }
}

private func socketOption(_ number: CInt, _ level: CInt, _ name: CInt) -> CInt? {
  var value: CInt = 0
  var size = socklen_t(MemoryLayout<CInt>.size)
  return getsockopt(number, level, name, &value, &size) == 0 ? value : nil
}

/// Lets a socket send and receive through one interface only.
///
/// C: `setsockopt(SO_BINDTODEVICE)`
func bindSocket(_ number: CInt, toInterface name: String) throws(SystemError) {
  // Linux takes an empty name for no interface, ends a name at a NUL, and cuts a name that is too long: requests would leave
  // through an interface that nobody chose.
  guard !name.isEmpty, !name.utf8.contains(0), name.utf8.count < Int(IF_NAMESIZE)
  else { throw SystemError(number: ENODEV) }
  _ = try retryingInterrupts {
    name.withCString { setsockopt(number, SOL_SOCKET, SO_BINDTODEVICE, $0, socklen_t(name.utf8.count + 1)) }
  }
}

/// C: `getsockname`
func localAddress(of number: CInt) throws(SystemError) -> SocketAddress? {
  try address { getsockname(number, $0, $1) }
}

/// C: `getpeername`
func peerAddress(of number: CInt) throws(SystemError) -> SocketAddress? {
  try address { getpeername(number, $0, $1) }
}

private func address(
  _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
) throws(SystemError) -> SocketAddress? {
  var storage = sockaddr_storage()
  var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
  _ = try withUnsafeMutablePointer(to: &storage) { storage throws(SystemError) in
    try storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer throws(SystemError) in
      try retryingInterrupts { call(pointer, &size) }
    }
  }
  return SocketAddress(storage, size: Int(size))
}

/// The number of bytes in a socket's send queue: bytes that were handed over, but not yet acknowledged by the other side's
/// system.
///
/// C: `ioctl(SIOCOUTQ)`
func unacknowledgedBytes(of number: CInt) -> Int64? {
  var count: CInt = 0
  // Linux: SIOCOUTQ is TIOCOUTQ.
  guard ioctl(number, UInt(TIOCOUTQ), &count) == 0 else { return nil }
  return Int64(count)
}

/// What the system says of a TCP connection; nil if it says nothing, as Linux before 4.6 does.
///
/// C: `getsockopt(TCP_INFO)`
func traffic(of number: CInt) -> Traffic? {
  withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { info in
    // The C library's `struct tcp_info` is older than Linux's, and ends before these members.
    let (acknowledgedBytes, receivedBytes) = (120, 128)
    var size = socklen_t(info.count)
    guard getsockopt(number, CInt(IPPROTO_TCP), TCP_INFO, info.baseAddress, &size) == 0, size >= receivedBytes + 8
    else { return nil }
    return Traffic(
      acknowledgedBytes: Int64(clamping: info.load(fromByteOffset: acknowledgedBytes, as: UInt64.self)),
      receivedBytes: Int64(clamping: info.load(fromByteOffset: receivedBytes, as: UInt64.self)))
  }
}

extension SystemError {
  /// `accept` reports a failure of the connection that it would have returned (accept(2), "Error handling").
  var isOfAcceptedConnection: Bool {
    [ECONNABORTED, ENETDOWN, EPROTO, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, ENETUNREACH].contains(number)
  }
}
