/// The sockets that one `CurlMulti` has open.
final class OpenSockets {
  /// The local port of each socket; nil before it is known.
  private var ports: [CInt: CInt?] = [:]
  /// The sockets that speak HTTP/2.
  private var speakingHTTP2: Set<CInt> = []
  /// The sockets whose servers have said how many streams they allow.
  private var settled: Set<CInt> = []
  /// The last stream that the server handles, for each socket on which the server has announced the end (RFC 9113 §6.8).
  private var lastStreams: [CInt: Int] = [:]
  /// The sockets to servers whose certificates the platform's check doesn't trust.
  private var unverified: Set<CInt> = []
  /// The sockets over which a request is sent or a response is awaited, with the identity of the request's `CurlEasy`.
  private var users: [CInt: ObjectIdentifier] = [:]
  /// The sockets whose bytes are held back.
  private var corked: [CInt] = []
  private let willClose: (CInt) -> Void

  init(_ willClose: @escaping (CInt) -> Void) {
    self.willClose = willClose
  }

  func opened(_ socket: CInt) {
    ports.updateValue(nil, forKey: socket)
  }

  func close(_ socket: CInt) {
    willClose(socket)
    ports[socket] = nil
    speakingHTTP2.remove(socket)
    settled.remove(socket)
    lastStreams[socket] = nil
    unverified.remove(socket)
    users[socket] = nil
    corked.removeAll { $0 == socket }
    closeSocket(socket)
  }

  /// Returns the socket bound to a local port; nil if several match, because Unix-domain sockets have no port. Reading another
  /// exchange's response would be worse than reading none.
  func socket(atLocalPort port: CInt) -> CInt? {
    var found: CInt?
    for (socket, known) in ports {
      let own = known ?? localPort(of: socket)
      // A socket has port 0 until it is connected.
      if known == nil, let own, own != 0 { ports.updateValue(own, forKey: socket) }
      guard own == port else { continue }
      if found != nil { return nil }
      found = socket
    }
    return found
  }

  func noteHTTP2(_ socket: CInt) {
    speakingHTTP2.insert(socket)
  }

  func speaksHTTP2(_ socket: CInt) -> Bool { speakingHTTP2.contains(socket) }

  /// Notes that the server's SETTINGS have arrived, or something after them (RFC 9113 §3.4: a server sends its SETTINGS first).
  func noteSettled(_ socket: CInt) {
    settled.insert(socket)
  }

  /// Whether a request has to wait, because another request was sent over the same socket with HTTP/2. The server has not said
  /// yet how many streams it allows (RFC 9113 §5.1.2), and would refuse streams beyond that number.
  func awaitsSettings(_ socket: CInt) -> Bool {
    speaksHTTP2(socket) && isInUse(socket) && !settled.contains(socket)
  }

  /// Notes that the server handles no streams after the given one (RFC 9113 §6.8).
  func noteGoAway(_ socket: CInt, lastStream: Int) {
    lastStreams[socket] = lastStream
  }

  /// The last stream that the server handles; nil if the server has not announced one.
  func lastStream(of socket: CInt) -> Int? { lastStreams[socket] }

  func noteUnverified(_ socket: CInt) {
    unverified.insert(socket)
  }

  func isUnverified(_ socket: CInt) -> Bool { unverified.contains(socket) }

  func noteInUse(_ socket: CInt, by user: ObjectIdentifier) {
    users[socket] = user
  }

  /// Notes that a request is over, unless another request uses the socket already.
  func noteFree(_ socket: CInt, by user: ObjectIdentifier) {
    if users[socket] == user { users[socket] = nil }
  }

  func isInUse(_ socket: CInt) -> Bool { users[socket] != nil }

  /// Holds back bytes that are written to a socket until libcurl has done all that it can at present. The head of a request and
  /// a short body then leave in one piece.
  func holdBack(_ socket: CInt) {
    setCorked(socket, true)
    corked.append(socket)
  }

  /// Sends the bytes that were held back.
  func release() {
    for socket in corked { setCorked(socket, false) }
    corked.removeAll()
  }

  /// The object that libcurl passes to a callback as `context`.
  static func at(_ context: UnsafeMutableRawPointer?) -> OpenSockets? {
    context.map { Unmanaged<OpenSockets>.fromOpaque($0).takeUnretainedValue() }
  }
}
