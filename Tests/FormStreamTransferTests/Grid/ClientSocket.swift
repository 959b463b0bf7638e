import FormStreamTestSupport
import Glibc

/// Waits until this process's socket that is connected to an address can be read: bytes, an end or a reset have
/// arrived. Returns true, too, if there is no such socket any more, and false after ten seconds.
func waitUntilReadable(connectedTo host: String, port: UInt16) -> Bool {
  // A client may close an idle connection as soon as something arrives.
  for _ in 0..<500 {
    guard let descriptor = descriptor(connectedTo: host, port: port) else { return true }
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&watched, 1, 20) > 0 { return true }
  }
  return false
}

private func descriptor(connectedTo host: String, port: UInt16) -> Int32? {
  var wanted = in_addr()
  guard inet_pton(AF_INET, host, &wanted) == 1 else { return nil }
  return openDescriptors().first { descriptor in
    var peer = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &peer) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
    }
    return result == 0 && Int32(peer.sin_family) == AF_INET
      && peer.sin_addr.s_addr == wanted.s_addr && UInt16(bigEndian: peer.sin_port) == port
  }
}
