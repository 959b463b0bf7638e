/// What an exchange knows about its connection.
struct ExchangeConnection {
  /// How many requests libcurl has begun.
  var requestCount = 0
  var socket: CInt?
  /// Whether an earlier request used the connection.
  var isReused = false
  /// Whether no request was sent over the connection, because something had arrived on it already.
  var isSpent = false
  /// The socket that this request waits for: another request over the socket has to end first, or the server's SETTINGS have to
  /// arrive. Nil if the request need not wait.
  var awaitedSocket: CInt?
  /// How often the request had to wait.
  var waits = 0
  /// Whether the sent head is HTTP/2; libcurl knows the version only after a response has arrived.
  var sentHTTP2 = false
  /// The last TLS alert of the other side (RFC 8446 §6); nil if there was none.
  var alert: UInt8?
  /// Whether the other side asked for a certificate in the handshake.
  var isAskedForCertificate = false
  /// Whether the server's certificates are trusted by the platform's check.
  var isVerified = false
  /// What libcurl says about HTTP/2.
  var notes = HTTP2Notes()
  /// How many bytes had been written to the socket before the request, before its body, and at the end; nil if the number isn't
  /// known.
  private var written: (before: ClosedRange<Int64>?, beforeBody: ClosedRange<Int64>?, after: ClosedRange<Int64>?)

  /// Whether something can be read before a request is sent: the connection's end, or bytes that would be taken for the
  /// response. libcurl looks only for the end, and takes a TLS alert before the end for a sign of life.
  ///
  /// On a kept connection with TLS, every byte counts. The contents of the bytes can't be read here. Bytes that may
  /// legitimately be there, such as a late session ticket (RFC 8446 §4.6.1), cost no more than another handshake. The tickets
  /// that servers send after the handshake are read with the first response, but on a new connection they are still there.
  /// HTTP/2 knows which request a response belongs to, and has frames of its own, so only the end of the connection counts.
  /// libcurl takes a connection for alive even if it has just read a close_notify from it.
  ///
  /// A connection with HTTP/1.1 that another request uses counts, too: the other request's body goes there, and the other
  /// response comes from there. libcurl 7.88 offers such a connection to requests that may be sent over HTTP/2, after the
  /// server has spoken HTTP/2 on another connection.
  func hasInputBefore(_ request: WireRequest, _ socket: CInt?, _ sockets: OpenSockets?) -> Bool {
    // A kept connection that can't be looked at is not trusted.
    guard let socket else { return isReused }
    if request.hasPriorKnowledge { return false }
    if sockets?.speaksHTTP2(socket) == true { return hasEnded(socket) }
    if request.mayBeHTTP2, sockets?.isInUse(socket) == true { return true }
    // Bytes that a proxy may send after its handshake don't count either.
    let isEncrypted = request.isEncrypted || request.proxy?.isEncrypted == true
    return (isReused || !isEncrypted) && hasInput(socket)
  }

  mutating func begin(_ request: WireRequest, over socket: CInt?) {
    requestCount += 1
    self.socket = socket
    sentHTTP2 = false
    notes.beginRequest()
    if request.mayBeHTTP2 { written.before = socket.flatMap { writtenBytes(of: $0) } }
  }

  /// Notes that the body begins, if libcurl doesn't count all bytes of the body that it writes. Under TLS it counts a piece
  /// after all of the piece is written, and with HTTP/2 not before it has written something else.
  mutating func beginBody(of request: WireRequest) {
    guard request.isEncrypted || sentHTTP2, request.bodyLength.map({ $0 > Self.exactPiece }) ?? true
    else { return }
    written.beforeBody = socket.flatMap { writtenBytes(of: $0) }
  }

  /// The size of a TLS record and of a frame of HTTP/2. A piece of at most this size is written completely or not at all.
  private static let exactPiece = 16 * 1024

  /// Notes how much was written, while the socket is open.
  mutating func noteWritten() {
    guard let socket, written.before != nil || written.beforeBody != nil else { return }
    written.after = writtenBytes(of: socket)
  }

  /// Whether the server announced that it sends no more. If the connection to the proxy is encrypted, it isn't known who sent
  /// the alert.
  func hasCloseNotify(_ request: WireRequest) -> Bool {
    alert == TLSAlert.closeNotify && request.proxy?.isEncrypted != true
  }

  /// Whether the server refused the connection because it doesn't accept the client's certificate, or demands one.
  ///
  /// RFC 8446 §4.4.2.4: a server that gets no certificate, or one that it does not accept, can abort the handshake. With TLS
  /// 1.3 the client has finished the handshake by then, and sends its request; the server has not finished it, and reads no
  /// request before that. On a kept connection, or after a response, the alert would concern something else.
  func refusesClientCertificate(_ request: WireRequest, hasResponse: Bool) -> Bool {
    guard let alert, request.isEncrypted, request.proxy?.isEncrypted != true else { return false }
    return !isReused && !hasResponse && TLSAlert.refusingClients.contains(alert)
  }

  /// How many bytes can have been written since the body began; nil if that isn't known.
  var writtenOfBody: Int64? {
    guard let before = written.beforeBody, let after = written.after else { return nil }
    return after.upperBound - before.lowerBound
  }

  /// Whether this many bytes of a request can have left.
  func mayHaveSent(_ count: Int64) -> Bool {
    guard let before = written.before, let after = written.after else { return true }
    return after.upperBound - before.lowerBound >= count
  }
}
