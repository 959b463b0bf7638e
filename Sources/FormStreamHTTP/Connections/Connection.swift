import FormStreamNet
import FormStreamPlatform
import FormStreamWire

/// A connection to a server, with the state and the memory that its requests use one after the other. All of it belongs to the
/// loop's thread.
final class Connection: SocketUser {
  let place: ConnectionPlace
  let socket: WatchedSocket
  var wire = ClientExchange()
  /// How many requests were begun.
  var requestCount = 0
  /// The request that uses the connection; nil if it is idle.
  var exchange: SocketExchange?
  /// Heads and framing that the system has not accepted.
  var output: [UInt8] = []
  /// How much of `output` was accepted.
  var acceptedOutput = 0
  /// A piece of a request's body.
  private(set) var piece = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// The part of the piece that the system has not accepted.
  var unsentPiece = 0..<0
  /// Until when the connection may be idle.
  var idleEnd = MonotonicTime.never
  /// Where the connection leads from and to; nil for Unix-domain sockets.
  let ends: (local: TransferMetrics.Endpoint?, remote: TransferMetrics.Endpoint?)
  private unowned let pool: ConnectionPool

  /// The largest piece that an idle connection keeps.
  private static let keptPiece = 64 * 1024 + chunkEnd

  init(_ socket: WatchedSocket, to place: ConnectionPlace, in pool: ConnectionPool) {
    (self.socket, self.place, self.pool) = (socket, place, pool)
    ends = (
      (try? socket.localAddress).flatMap(TransferMetrics.Endpoint.init),
      (try? socket.peerAddress).flatMap(TransferMetrics.Endpoint.init)
    )
    socket.user = self
  }

  deinit { piece.deallocate() }

  /// Gets memory for pieces of a body.
  func reservePiece(_ size: Int) {
    guard piece.count < size else { return }
    piece.deallocate()
    piece = .allocate(byteCount: size, alignment: 16)
  }

  /// Gives memory back that an idle connection doesn't need.
  func trim() {
    (acceptedOutput, unsentPiece) = (0, 0..<0)
    output.removeAll(keepingCapacity: output.capacity <= Self.keptPiece)
    guard piece.count > Self.keptPiece else { return }
    piece.deallocate()
    piece = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  }

  func isReady(_ socket: WatchedSocket) {
    // A server has nothing to say on an idle connection, except that it ends.
    if let exchange { exchange.goOn() } else if socket.hasInput() { pool.close(self) }
  }

  func loopEnds(_ socket: WatchedSocket) { exchange = nil }

  func close() {
    exchange = nil
    socket.close()
  }
}

extension TransferMetrics.Endpoint {
  init?(_ address: SocketAddress) {
    guard let host = address.host, let port = address.port else { return nil }
    self.init(address: host, port: Int(port))
  }
}
