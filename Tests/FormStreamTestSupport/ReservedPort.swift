import Glibc
import FormStreamPlatform

/// A port of this machine at which nothing is listening. It belongs to this object: no server that asks for any free port
/// gets it, at no address, and no connection goes out from it. A server that asks for this very port gets it.
///
/// A test that closes a port in order to use it later loses it to one of the hundred other tests that run beside it.
public final class ReservedPort: Sendable {
  /// The port.
  public let number: UInt16
  private let descriptor: Int32

  /// Reserves a free port.
  public init() throws {
    // Linux shares a port among sockets that all permit it, as long as one of them at most listens. `::` is every address
    // of IPv4, too; not every machine has IPv6.
    (descriptor, number) = try (try? boundSocket(.ip("::"))) ?? boundSocket(.ip("0.0.0.0"))
  }

  deinit { close(descriptor) }

  /// An address that has this port.
  public func address(at host: String = "127.0.0.1") -> LoopbackAddress { .ip(host, port: number) }
}

/// Whether this machine has the loopback's address of IPv6. Many containers don't.
public let hasIPv6: Bool = {
  guard let (descriptor, _) = try? boundSocket(.ip("::1")) else { return false }
  close(descriptor)
  return true
}()

/// A socket that is bound to an address and doesn't listen yet, and its port.
///
/// It may take a port at which there were connections a moment ago, and others may after it: each socket that a port had
/// must permit that, even those that only wait for late packets (TIME_WAIT).
func boundSocket(_ address: LoopbackAddress, _ kind: Int32 = 0) throws -> (
  descriptor: Int32, port: UInt16
) {
  let (family, bytes) = try LoopbackListener.bytes(of: address)
  let kind = kind | Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
  let descriptor = socket(family, kind, 0)
  guard descriptor >= 0 else { throw SystemError(number: errno) }
  var (isReusable, size) = (Int32(1), socklen_t(bytes.count))
  setsockopt(
    descriptor, SOL_SOCKET, SO_REUSEADDR, &isReusable, socklen_t(MemoryLayout<Int32>.size))
  if case .ip("::", _) = address {
    var isIPv6Only: Int32 = 0
    setsockopt(
      descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &isIPv6Only,
      socklen_t(MemoryLayout<Int32>.size))
  }
  var storage = sockaddr_storage()
  let result = withUnsafeMutablePointer(to: &storage) { storage in
    UnsafeMutableRawPointer(storage).copyMemory(from: bytes, byteCount: bytes.count)
    return storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int32 in
      if bind(descriptor, pointer, size) < 0 { return -1 }
      size = socklen_t(MemoryLayout<sockaddr_storage>.size)
      return getsockname(descriptor, pointer, &size)
    }
  }
  guard result == 0 else {
    let failure = SystemError(number: errno)
    close(descriptor)
    throw failure
  }
  if family == AF_UNIX { return (descriptor, 0) }
  // The port is at the same offset in both kinds of address.
  let port = withUnsafeBytes(of: &storage) {
    UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self))
  }
  return (descriptor, port)
}
