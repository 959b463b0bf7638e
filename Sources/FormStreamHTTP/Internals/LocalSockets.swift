import FormStreamPlatform
import Glibc

/// A socket that listens for this process alone. It has no file and no port: its name is in the system's abstract namespace
/// (unix(7)).
final class LocalListener: Sendable {
  /// The name, without the NUL that begins abstract names.
  let name: String
  private let number: CInt

  /// C: `socket`, `bind`, `listen`
  init() throws(SystemError) {
    var chance = SystemRandomNumberGenerator()
    name = "formstream-\(chance.next())-\(chance.next())"
    let number = try retryingInterrupts {
      socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = [0] + Array(name.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let size = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path) + name.count
    do throws(SystemError) {
      _ = try retryingInterrupts {
        withUnsafePointer(to: address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, socklen_t(size)) }
        }
      }
      _ = try retryingInterrupts { listen(number, 128) }
    } catch {
      close(number)
      throw error
    }
    self.number = number
  }

  deinit { close(number) }

  /// Waits for the next connection; returns nil after ``stop()``. Connections of other users are refused, because every
  /// process sees abstract names.
  ///
  /// C: `accept`, `fcntl(F_SETFD)`
  func accept() -> LocalConnection? {
    while true {
      let accepted = Glibc.accept(number, nil, nil)
      if accepted >= 0 {
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        let connection = LocalConnection(accepted)
        if connection.isOfThisUser { return connection }
      } else if ![EINTR, ECONNABORTED, EMFILE, ENFILE].contains(errno) {
        return nil
      }
    }
  }

  /// Refuses further connections.
  ///
  /// C: `shutdown`
  func stop() { _ = shutdown(number, CInt(SHUT_RDWR)) }
}

/// An accepted connection. It is closed when it is released.
final class LocalConnection: Sendable {
  private let number: CInt

  fileprivate init(_ number: CInt) {
    self.number = number
  }

  deinit { close(number) }

  /// C: `getsockopt(SO_PEERCRED)`
  fileprivate var isOfThisUser: Bool {
    // `struct ucred` is a process, a user and a group; Swift's Glibc doesn't have it.
    var credentials: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: credentials))
    return getsockopt(number, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0
      && credentials.user == geteuid()
  }

  /// Reads bytes, and waits for them; returns none at the end.
  ///
  /// C: `recv`
  func read(atMost count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
      read = max((try? retryingInterrupts { recv(number, buffer.baseAddress, count, 0) }) ?? 0, 0)
    }
  }

  /// Writes all bytes; returns false if the other side has closed the connection.
  ///
  /// C: `send(MSG_NOSIGNAL)`
  func write(_ bytes: some Collection<UInt8>) -> Bool {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { bytes in
        (try? retryingInterrupts { send(number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)) }) ?? 0
      }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  /// Waits until the other side closes the connection, but no longer than `limit`. Returns whether it did.
  ///
  /// C: `poll(POLLRDHUP)`
  func waitForEnd(atMost limit: Duration) -> Bool {
    // Linux's POLLRDHUP. The C library declares it only if _GNU_SOURCE is defined.
    var watched = pollfd(fd: number, events: 0x2000, revents: 0)
    return poll(&watched, 1, CInt(clamping: max(limit.milliseconds, 0))) > 0
  }

  /// Ends the connection in both directions. Threads that wait for it go on.
  ///
  /// C: `shutdown`
  func shutDown() { _ = shutdown(number, CInt(SHUT_RDWR)) }
}
