// This file and NetworkInterfaces.swift are the only files of this module that call the C library. This file is long so
// that the other files never see an errno.

// libmicrohttpd's header includes the C library's socket functions. The compiler attributes these functions to one of
// the two modules, and may choose the other module in the next build. So both are imported.
import CFormStreamMicroHTTPD
import FormStreamPlatform
import Glibc

/// A connected socket that libmicrohttpd owns and closes.
struct Socket: Sendable {
  private let number: CInt

  init(_ number: CInt) {
    self.number = number
  }

  /// Sends the bytes without waiting; returns false if not all of them could be sent.
  ///
  /// C: `send(MSG_DONTWAIT)`
  func sendAtOnce(_ bytes: [UInt8]) -> Bool {
    send(number, bytes, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)) == bytes.count
  }

  /// Whether there are received bytes that were not read yet.
  ///
  /// C: `recv(MSG_PEEK)`
  var hasUnreadBytes: Bool {
    var byte: UInt8 = 0
    return recv(number, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) > 0
  }

  /// Whether the client has ended its side of the connection, and all received bytes have been read. The client may still read.
  ///
  /// - Parameter isTLS: whether the connection uses TLS. Unread bytes may then be the end of the TLS session, so they are
  ///   ignored.
  ///
  /// C: `poll`
  func isEnded(isTLS: Bool) -> Bool {
    // Linux's POLLRDHUP. The C library declares it only if _GNU_SOURCE is defined.
    let end: Int32 = 0x2000
    var asked = pollfd(fd: number, events: Int16(end), revents: 0)
    guard poll(&asked, 1, 0) > 0 else { return false }
    let events = Int32(asked.revents)
    return events & (POLLERR | POLLHUP) != 0 || (events & end != 0 && (isTLS || !hasUnreadBytes))
  }

  /// How many bytes were received, and how many of the sent bytes the other side has taken. It is the other side's
  /// system that takes the bytes. The system stops taking bytes if its program doesn't read them.
  struct Traffic {
    /// The bytes that have been received since the connection began.
    let receivedBytes: UInt64
    /// The bytes that the other side has taken since the connection began.
    let readBytes: UInt64
    /// Whether the other side has taken all bytes that were sent.
    let isRead: Bool
    /// Whether the other side has also taken the end of the stream.
    let isEndRead: Bool
  }

  /// The traffic on the connection so far; nil if the system doesn't report it. Linux 4.6 and later report it.
  ///
  /// C: `getsockopt(TCP_INFO)`
  var traffic: Traffic? {
    withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { info in
      // The C library's `struct tcp_info` is older than Linux's, and ends before these members.
      let (unacknowledged, acknowledgedBytes, receivedBytes, unsentBytes) = (24, 120, 128, 144)
      // include/net/tcp_states.h: TCP_FIN_WAIT2, TCP_TIME_WAIT, TCP_CLOSE.
      let statesAfterEnd: [UInt8] = [5, 6, 7]
      var size = socklen_t(info.count)
      guard getsockopt(number, CInt(IPPROTO_TCP), TCP_INFO, info.baseAddress, &size) == 0,
        size >= unsentBytes + 4
      else { return nil }
      return Traffic(
        receivedBytes: info.load(fromByteOffset: receivedBytes, as: UInt64.self),
        readBytes: info.load(fromByteOffset: acknowledgedBytes, as: UInt64.self),
        isRead: info.load(fromByteOffset: unacknowledged, as: UInt32.self) == 0
          && info.load(fromByteOffset: unsentBytes, as: UInt32.self) == 0,
        isEndRead: statesAfterEnd.contains(info.load(as: UInt8.self)))
    }
  }

  /// Sends the bytes and the end of the stream, then reads and discards what the client sends, until the client closes the
  /// connection, the time is over, or `limit` bytes are discarded.
  ///
  /// C: `send`, `shutdown`, `recv`, `poll`
  func sendAndDrain(_ bytes: [UInt8], within time: Duration, discarding limit: Int = .max) {
    let end = ContinuousClock.now + time
    var discarded = 0
    var rest = bytes[...]
    var isReadable = true
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(number, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        guard errno == EAGAIN else { return }
        // The client may be blocked because the receiver does not read. Even after the client has ended its stream, it may
        // still read.
        if isReadable { isReadable = discardReceived(&discarded) }
        guard isReady(for: isReadable ? POLLIN | POLLOUT : POLLOUT, until: end) else { return }
      }
    }
    shutdown(number, Int32(SHUT_WR))
    while isReadable, discardReceived(&discarded), discarded < limit,
      isReady(for: POLLIN, until: end)
    {}
  }

  /// Reads and discards the received bytes, and counts them; returns false if no more can arrive.
  private func discardReceived(_ discarded: inout Int) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { buffer in
      let count = recv(number, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
      discarded += max(count, 0)
      return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
    }
  }

  /// Waits until one of the events occurs; returns false if the time is over.
  private func isReady(for events: Int32, until end: ContinuousClock.Instant) -> Bool {
    let left = end - .now
    guard left > .zero else { return false }
    var waited = pollfd(fd: number, events: Int16(events), revents: 0)
    let count = poll(&waited, 1, CInt(left / .milliseconds(1)) + 1)
    return count > 0 || (count < 0 && errno == EINTR)
  }

  /// Sends the end of the stream.
  ///
  /// C: `shutdown`
  func endSending() {
    shutdown(number, Int32(SHUT_WR))
  }

  /// Ends sending and receiving, and wakes up all threads that wait on the socket.
  ///
  /// C: `shutdown`
  func shutDown() {
    shutdown(number, Int32(SHUT_RDWR))
  }

  /// Closes a socket that was not handed over to libmicrohttpd.
  ///
  /// C: `close`
  func close() {
    Glibc.close(number)
  }
}

/// A socket that listens for connections.
struct ListeningSocket: Sendable {
  let number: CInt
  /// The requested port, or the one that the system chose.
  let port: UInt16

  /// C: `socket`, `setsockopt`, `bind`, `listen`, `getsockname`
  init(on address: SocketAddress) throws(SystemError) {
    let number = try retryingInterrupts {
      socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }
    do throws(SystemError) {
      var yes: CInt = 1
      var no: CInt = 0
      let size = socklen_t(MemoryLayout<CInt>.size)
      setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &yes, size)
      // `::` accepts IPv4 connections too.
      if address.family == AF_INET6 {
        setsockopt(number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &no, size)
      }
      _ = try retryingInterrupts { address.withPointer { bind(number, $0, $1) } }
      _ = try retryingInterrupts { listen(number, 1024) }
      port = try SocketAddress(ofSocket: number).port
    } catch {
      Glibc.close(number)
      throw error
    }
    self.number = number
  }

  /// Whether a client waits to be accepted.
  ///
  /// C: `poll`
  var hasWaitingClient: Bool {
    var waited = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return poll(&waited, 1, 0) > 0
  }

  /// Drops the packets with which clients begin a connection. The clients try again after a second.
  ///
  /// C: `setsockopt(SO_ATTACH_FILTER)`
  func ignoreNewClients() {
    formstream_ignore_new_clients(number)
  }

  /// Waits until a client wants a connection, or the socket no longer listens. Returns false if waiting fails.
  ///
  /// C: `poll`
  func waitForClient() -> Bool {
    var waited = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return (try? retryingInterrupts { poll(&waited, 1, -1) }) != nil
  }

  /// The result of accepting a connection.
  enum Accepted {
    /// The number of a socket, which the caller owns, and the client's address.
    case connection(CInt, SocketAddress)
    case none(Daemon.AcceptResult)
  }

  /// Accepts a connection.
  ///
  /// C: `accept4`, `setsockopt(TCP_NODELAY)`
  func accept() -> Accepted {
    var address = sockaddr_storage()
    let connection = formstream_accept(number, &address)
    guard connection >= 0 else { return .none(acceptFailure()) }
    // libmicrohttpd decides when a response is sent. But TLS sends some data itself, such as session tickets, as a segment
    // of its own. Without this option, a response after such a segment would wait until the client acknowledges the
    // segment.
    var yes: CInt = 1
    setsockopt(
      connection, CInt(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<CInt>.size))
    let client = withUnsafeBytes(of: address) { $0.baseAddress.map { SocketAddress($0) } }
    return .connection(connection, client ?? SocketAddress())
  }

  /// Refuses new connections, and wakes up the thread that waits for a client.
  ///
  /// C: `shutdown`
  func stopListening() {
    shutdown(number, Int32(SHUT_RDWR))
  }

  /// C: `close`
  func close() {
    Glibc.close(number)
  }
}

/// An IPv4 or IPv6 address with a port.
struct SocketAddress: CustomStringConvertible {
  private var storage = sockaddr_storage()

  /// No address.
  init() {}

  /// Parses a numeric address, or `localhost`; nil if the text is neither.
  ///
  /// C: `inet_pton`
  init?(_ address: String, port: UInt16) {
    // C would ignore everything after a NUL.
    guard !address.utf8.contains(0) else { return nil }
    let address = address == "localhost" ? "127.0.0.1" : address
    var four = sockaddr_in()
    var six = sockaddr_in6()
    if inet_pton(AF_INET, address, &four.sin_addr) == 1 {
      four.sin_family = sa_family_t(AF_INET)
      four.sin_port = port.bigEndian
      withUnsafeMutableBytes(of: &storage) { bytes in
        withUnsafeBytes(of: four) { bytes.copyMemory(from: $0) }
      }
    } else if inet_pton(AF_INET6, address, &six.sin6_addr) == 1 {
      six.sin6_family = sa_family_t(AF_INET6)
      six.sin6_port = port.bigEndian
      withUnsafeMutableBytes(of: &storage) { bytes in
        withUnsafeBytes(of: six) { bytes.copyMemory(from: $0) }
      }
    } else {
      return nil
    }
  }

  /// C: `getsockname`
  init(ofSocket number: CInt) throws(SystemError) {
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var storage = sockaddr_storage()
    _ = try retryingInterrupts {
      withUnsafeMutablePointer(to: &storage) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &size) }
      }
    }
    self.storage = storage
  }

  /// Copies a `struct sockaddr`, which must have the size of its address family.
  init(_ pointer: UnsafeRawPointer) {
    let size =
      switch CInt(pointer.load(as: sa_family_t.self)) {
      case AF_INET: MemoryLayout<sockaddr_in>.size
      case AF_INET6: MemoryLayout<sockaddr_in6>.size
      default: MemoryLayout<sa_family_t>.size
      }
    withUnsafeMutableBytes(of: &storage) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: size))
    }
  }

  var family: CInt { CInt(storage.ss_family) }

  var port: UInt16 {
    withUnsafeBytes(of: storage) {
      switch family {
      case AF_INET: UInt16(bigEndian: $0.load(as: sockaddr_in.self).sin_port)
      case AF_INET6: UInt16(bigEndian: $0.load(as: sockaddr_in6.self).sin6_port)
      default: 0
      }
    }
  }

  var isIPv6: Bool { family == AF_INET6 }

  /// The numeric address, without brackets; nil if the address is neither IPv4 nor IPv6.
  ///
  /// C: `inet_ntop`
  var host: String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      withUnsafeBytes(of: storage) { bytes in
        let offset =
          family == AF_INET
          ? MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)
          : MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr)
        guard let base = bytes.baseAddress, let offset, let start = text.baseAddress,
          inet_ntop(family, base + offset, start, 64) != nil
        else { return nil }
        return String(cString: start)
      }
    }
  }

  var description: String {
    let host = host ?? "?"
    return isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
    }
  }

  /// Calls `body` with the bytes of the `struct sockaddr`.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeBytes(of: storage) { body(UnsafeRawBufferPointer(rebasing: $0[..<size])) }
  }

  private var size: Int {
    family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
  }
}

extension SocketAddress {
  /// The addresses that belong to one client: an IPv4 address, or an IPv6 network of 64 bits, in which the client can
  /// choose any address.
  struct Network: Hashable {
    fileprivate let bytes: [UInt8]

    /// The bytes as hexadecimal digits.
    var text: String {
      String(decoding: bytes.flatMap { [Hexadecimal.digit($0 >> 4), Hexadecimal.digit($0)] }, as: UTF8.self)
    }
  }

  var network: Network {
    let bytes = hostBytes
    if let four = Self.mappedIPv4(bytes) { return Network(bytes: four) }
    return Network(bytes: Array(bytes.prefix(8)))
  }

  /// Whether the address belongs to this machine alone.
  var isLoopback: Bool {
    let bytes = hostBytes
    let four = Self.mappedIPv4(bytes) ?? bytes
    return four.count == 4 ? four[0] == 127 : four == [UInt8](repeating: 0, count: 15) + [1]
  }

  /// Whether the address is link-local (fe80::/10). Such an address has to be written with the name of an interface.
  var isOfOneLink: Bool {
    let bytes = hostBytes
    return bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
  }

  /// The 4 or 16 bytes of the address; none if the address is neither IPv4 nor IPv6.
  private var hostBytes: [UInt8] {
    withUnsafeBytes(of: storage) { bytes in
      switch family {
      case AF_INET: Array(bytes[4..<8])
      case AF_INET6: Array(bytes[8..<24])
      default: []
      }
    }
  }

  /// RFC 4291 §2.5.5.2: "IPv4-Mapped IPv6 Address". A socket that listens at `::` sees the addresses of IPv4 clients in
  /// this form.
  private static func mappedIPv4(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count == 16, bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) else {
      return nil
    }
    return Array(bytes.suffix(4))
  }
}

/// How many descriptors this process can still open, counted up to `wanted`.
///
/// C: `getrlimit`, `fcntl`
func freeDescriptors(upTo wanted: Int) -> Int {
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
  var free = 0
  var number: CInt = 0
  while free < wanted, number < CInt(clamping: limit.rlim_cur) {
    if fcntl(number, F_GETFD) < 0 { free += 1 }
    number += 1
  }
  return free
}

/// The machines that an address stands for.
enum AddressKind {
  /// This machine.
  case loopback
  /// `0.0.0.0` and `::`. For a server, they stand for all its addresses; for a client, they stand for this machine.
  case unspecified
  /// All other addresses, and text that is not an address.
  case other

  /// The kind of a numeric address in any spelling that browsers know, such as `127.1`, `0x7f000001` and
  /// `::ffff:127.0.0.1`.
  ///
  /// C: `inet_aton`, `inet_pton`
  init(_ address: String) {
    var four = in_addr()
    var six = in6_addr()
    // inet_aton ignores text after a blank.
    if !address.utf8.contains(where: { $0 <= 0x20 }), inet_aton(address, &four) != 0 {
      self.init(UInt32(bigEndian: four.s_addr))
    } else if inet_pton(AF_INET6, address, &six) == 1 {
      let bytes = withUnsafeBytes(of: six, Array.init)
      let last = bytes[12...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      switch Array(bytes[..<12]) {
      // RFC 4291 §2.5.5.2: an IPv4 address.
      case [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]: self.init(last)
      case [UInt8](repeating: 0, count: 12):
        self = last == 0 ? .unspecified : last == 1 ? .loopback : .other
      default: self = .other
      }
    } else {
      self = .other
    }
  }

  private init(_ address: UInt32) {
    self = address == 0 ? .unspecified : address >> 24 == 127 ? .loopback : .other
  }
}

/// Whether an address is an IPv4 address, or an IPv4 address in the form of IPv6 (RFC 4291 §2.5.5.2).
///
/// C: `inet_pton`
func isIPv4(_ address: String) -> Bool {
  var six = in6_addr()
  guard inet_pton(AF_INET6, address, &six) == 1 else { return !address.contains(":") }
  let bytes = withUnsafeBytes(of: six, Array.init)
  return bytes.prefix(12) == [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
}

/// The reason that `accept4` returned no connection.
func acceptFailure() -> Daemon.AcceptResult {
  switch errno {
  // Linux returns EINVAL for a listening socket that was shut down.
  case EINVAL, EBADF, ENOTSOCK: .notListening
  case EMFILE, ENFILE, ENOBUFS, ENOMEM: .noRoom
  // accept(2): "you should … treat … network errors … like EAGAIN by retrying".
  default: .lost
  }
}

/// The current time in the format of HTTP (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// - Parameter seconds: how much later the time is; at most a hundred years.
///
/// C: `gmtime_r`
func httpDate(after seconds: Int64 = 0) -> String {
  var now = time(nil) + Int(clamping: min(max(seconds, 0), 3_155_760_000))
  var fields = tm()
  gmtime_r(&now, &fields)
  let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  func twoDigits(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
  // gmtime_r keeps all fields within these ranges.
  return
    "\(days[Int(fields.tm_wday)]), \(twoDigits(fields.tm_mday)) \(months[Int(fields.tm_mon)]) \(fields.tm_year + 1900) "
    + "\(twoDigits(fields.tm_hour)):\(twoDigits(fields.tm_min)):\(twoDigits(fields.tm_sec)) GMT"
}

/// The current time in UTC, in the format of RFC 3339: `1994-11-06T08:49:37.123Z`.
///
/// C: `clock_gettime`, `gmtime_r`
package func recordTime() -> String {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  var fields = tm()
  gmtime_r(&now.tv_sec, &fields)
  func twoDigits(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
  // gmtime_r keeps all fields within these ranges. Adding 1000 keeps the leading zeros of the milliseconds; the 1 in front of
  // them is dropped.
  let date = "\(fields.tm_year + 1900)-\(twoDigits(fields.tm_mon + 1))-\(twoDigits(fields.tm_mday))"
  let time = [fields.tm_hour, fields.tm_min, fields.tm_sec].map(twoDigits).joined(separator: ":")
  return "\(date)T\(time).\(String(1000 + now.tv_nsec / 1_000_000).dropFirst())Z"
}

/// The number of this thread. No other thread has the same number while this thread runs.
///
/// C: `pthread_self`
func currentThread() -> UInt { UInt(pthread_self()) }

/// The number of bytes before the NUL.
///
/// C: `strlen`
func length(of text: UnsafePointer<CChar>) -> Int { strlen(text) }

/// Formats a message as C's `printf` does.
///
/// C: `vsnprintf`
func formatted(_ format: UnsafePointer<CChar>, _ arguments: CVaListPointer) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { text in
    guard let start = text.baseAddress, vsnprintf(start, text.count, format, arguments) >= 0 else {
      return String(cString: format)
    }
    return String(cString: start)
  }
}
