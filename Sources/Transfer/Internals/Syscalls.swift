// The only file of this module that talks to the C library.

import Foundation
import Glibc
import Multipart

/// What a socket's send queue holds: handed over, and not yet confirmed by the other side's system.
///
/// C: `ioctl(SIOCOUTQ)`
func unacknowledgedBytes(of socket: CInt) -> Int64? {
  var count: CInt = 0
  // Linux: SIOCOUTQ is TIOCOUTQ.
  guard ioctl(socket, UInt(TIOCOUTQ), &count) == 0 else { return nil }
  return Int64(count)
}

/// What has come on a socket and was not read yet, up to `limit` bytes, without waiting for more.
///
/// C: `recv(MSG_DONTWAIT)`
func pendingBytes(of socket: CInt, limit: Int) -> [UInt8] {
  var bytes: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 16 * 1024)
  while bytes.count < limit {
    var count = recv(socket, &piece, piece.count, Int32(MSG_DONTWAIT))
    // A failure of writing may still be told here; what came before it is behind it.
    if count < 0, errno == EINTR || errno == ECONNRESET || errno == EPIPE {
      count = recv(socket, &piece, piece.count, Int32(MSG_DONTWAIT))
    }
    guard count > 0 else { break }
    bytes.append(contentsOf: piece[..<count])
  }
  return bytes
}

/// The port at this end of a connection; 0 where it has none, as a socket in the file system.
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

/// Starts a thread that nobody joins; false where the system has none to give.
///
/// Not Foundation's `Thread`, which does not tell.
func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
  startThread {
    Thread.current.name = name
    body()
  }
}

/// Keeps a peer that went away from ending the process: the write fails instead, on this thread alone.
///
/// C: `pthread_sigmask`
func ignoreBrokenPipesOnThisThread() {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
}

/// A file that is written under a name of its own, and gets the one it is to have once it is whole.
final class AnswerFile {
  private let path: LocalPath
  private let unfinished: LocalPath
  private var descriptor: CInt

  /// C: `open(O_CREAT)`
  init(_ path: LocalPath) throws(SystemError) {
    guard path.isUsable, !path.bytes.isEmpty else { throw SystemError(number: EINVAL) }
    self.path = path
    let unfinished = LocalPath(bytes: path.bytes + Array(".part".utf8))
    self.unfinished = unfinished
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
    descriptor = try retryingInterrupts { unfinished.withCString { open($0, flags, 0o600) } }
  }

  deinit { discard() }

  /// C: `write`
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try writeAll(bytes, to: descriptor)
  }

  /// C: `rename`
  func commit() throws(SystemError) {
    guard descriptor >= 0 else { return }
    // It is open until it has its name: whoever can't give it that, takes it away.
    _ = try retryingInterrupts {
      unfinished.withCString { old in path.withCString { rename(old, $0) } }
    }
    close(descriptor)
    descriptor = -1
  }

  /// C: `unlink`
  func discard() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    _ = unfinished.withCString { unlink($0) }
  }
}

/// Why a file can't be read; nil where it can.
///
/// C: `access`
func unreadable(_ path: LocalPath) -> SystemError? {
  guard path.isUsable, !path.bytes.isEmpty else { return SystemError(number: EINVAL) }
  return path.withCString { access($0, R_OK) } == 0 ? nil : SystemError(number: errno)
}
