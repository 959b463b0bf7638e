/// What an exchange knows about its connection.
struct ExchangeConnection {
  /// How many requests libcurl has begun.
  var requestCount = 0
  var socket: CInt?
  /// Whether an earlier request used the connection.
  var isReused = false
  /// Whether the kept connection was not used, because something had arrived on it before the request.
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
  /// The facts about HTTP/2 that libcurl has reported.
  var notes = HTTP2Notes()
  /// How many bytes had been written to the socket before the request, before its body, and at the end; nil if the number isn't
  /// known.
  private var written: (before: ClosedRange<Int64>?, beforeBody: ClosedRange<Int64>?, after: ClosedRange<Int64>?)

  /// Whether something can be read before a request is sent: the connection's end, or bytes that would be taken for the
  /// response. libcurl checks only for the end. If a TLS alert comes before the end, libcurl considers the connection alive.
  ///
  /// On a kept TLS connection, every byte counts, because the bytes can't be decrypted here. If the bytes are legitimate, such
  /// as a late session ticket (RFC 8446 §4.6.1), the mistake costs no more than another handshake. On a new TLS connection,
  /// bytes don't count: the session tickets that servers send after the handshake are still unread, until they are read with
  /// the first response. With HTTP/2, only the end of the connection counts, because each response names its request, and the
  /// server may send frames at any time. This end must be checked here: libcurl considers a connection alive even if it has
  /// just read a close_notify from the connection.
  ///
  /// An HTTP/1.1 connection that another request still uses is treated as if it had input, because the other request's body and
  /// response are sent over it. libcurl 7.88 offers such a connection to a request that may be sent over HTTP/2 if the server
  /// has spoken HTTP/2 on another connection.
  func hasInputBefore(_ request: WireRequest, _ socket: CInt?, _ sockets: OpenSockets?) -> Bool {
    // A kept connection that can't be checked is not trusted.
    guard let socket else { return isReused }
    if request.hasPriorKnowledge { return false }
    if sockets?.speaksHTTP2(socket) == true { return hasEnded(socket) }
    if request.mayBeHTTP2, sockets?.isInUse(socket) == true { return true }
    // On a new connection to an encrypted proxy, bytes don't count either: the proxy may send them after its handshake.
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

  /// Notes that the body begins, if libcurl may write bytes of the body without counting them. Under TLS, it counts a piece
  /// only after the complete piece is written. With HTTP/2, it counts a piece only after it has written something else.
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

  /// Whether the server announced that it sends nothing more. False if the connection to the proxy is encrypted, because the
  /// proxy may have sent the alert.
  func hasCloseNotify(_ request: WireRequest) -> Bool {
    alert == TLSAlert.closeNotify && request.proxy?.isEncrypted != true
  }

  /// Whether the server refused the connection because it doesn't accept the client's certificate, or demands one.
  ///
  /// RFC 8446 §4.4.2.4: a server can abort the handshake if it gets no certificate, or does not accept the certificate. With
  /// TLS 1.3, the client has finished the handshake by then, and sends its request. The server has not finished the handshake,
  /// and reads no request before the handshake's end. On a kept connection, or after a response, the alert would have another
  /// reason.
  func refusesClientCertificate(_ request: WireRequest, hasResponse: Bool) -> Bool {
    guard let alert, request.isEncrypted, request.proxy?.isEncrypted != true else { return false }
    return !isReused && !hasResponse && TLSAlert.refusingClients.contains(alert)
  }

  /// How many bytes can have been written since the body began; nil if that isn't known.
  var writtenOfBody: Int64? {
    guard let before = written.beforeBody, let after = written.after else { return nil }
    return after.upperBound - before.lowerBound
  }

  /// Whether `count` bytes of a request may have been written to the socket.
  func mayHaveSent(_ count: Int64) -> Bool {
    guard let before = written.before, let after = written.after else { return true }
    return after.upperBound - before.lowerBound >= count
  }
}
